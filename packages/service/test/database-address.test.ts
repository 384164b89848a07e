import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { readAddress } from "../src/database-address.js";

const folder = fs.mkdtempSync(path.join(os.tmpdir(), "giftcard-address-"));
afterAll(() => fs.rmSync(folder, { recursive: true }));
const rootFile = path.join(folder, "root.crt");
fs.writeFileSync(rootFile, "a certificate");

describe("hosts", () => {
  test("one is taken as it stands, and need not take writes", () => {
    expect(readAddress("postgres://me:pa%40ss@db.internal:5433/cards?application_name=x")).toEqual({
      connectionString: "postgres://me:pa%40ss@db.internal:5433/cards?application_name=x",
      hosts: [{ name: "db.internal", port: 5433 }],
      target: "any",
      ssl: undefined,
      isPooled: false,
    });
  });

  test("several are tried in their order, each at its own port or the usual one, until one takes writes", () => {
    const address = readAddress("postgresql://me:pw@a,b:5433,[::1]:6000/cards");
    expect(address.hosts).toEqual([
      { name: "a", port: 5432 },
      { name: "b", port: 5433 },
      { name: "::1", port: 6000 },
    ]);
    expect(address.target).toBe("read-write");
    expect(address.connectionString).toBe("postgresql://me:pw@a/cards");
  });

  test.each(["any", "read-write", "primary"])("target_session_attrs=%s is asked of each", (target) => {
    expect(readAddress(`postgres://a,b/cards?target_session_attrs=${target}`).target).toBe(target);
  });

  test("a folder of sockets, or no host at all, is the driver's to find", () => {
    expect(readAddress("postgres:///cards?host=/run/postgresql").connectionString).toBe(
      "postgres:///cards?host=%2Frun%2Fpostgresql",
    );
    expect(readAddress("postgres://me@%2Frun%2Fpostgresql/cards").hosts).toEqual([
      { name: "/run/postgresql", port: undefined },
    ]);
  });
});

describe("TLS, as libpq has it", () => {
  const sslOf = (query: string) => readAddress(`postgres://a/cards?${query}`).ssl;

  test("require encrypts and trusts, verify-ca wants the authority's certificate, verify-full its name too", () => {
    expect(sslOf("")).toBe(undefined);
    expect(sslOf("sslmode=disable")).toBe(false);
    expect(sslOf("sslmode=require")).toEqual({ rejectUnauthorized: false });
    const ca = "a certificate";
    const checkServerIdentity = expect.any(Function);
    expect(sslOf(`sslmode=require&sslrootcert=${rootFile}`)).toEqual({ ca, checkServerIdentity });
    expect(sslOf(`sslmode=verify-ca&sslrootcert=${rootFile}`)).toEqual({ ca, checkServerIdentity });
    expect(sslOf(`sslmode=verify-full&sslrootcert=${rootFile}`)).toEqual({ ca });
    expect(sslOf("sslmode=verify-full&sslrootcert=system")).toEqual({});
  });
});

test.each([
  ["mysql://u:sesame@a/cards", /not a postgres:\/\/ address/],
  ["sesame", /not a postgres:\/\/ address/],
  ["postgres://u:sesame@a:b:c/cards", /name:port/],
  ["postgres://u:sesame@a:99999/cards", /name:port/],
  ["postgres://u:sesame@a,,b/cards", /name:port/],
  ["postgres://u:sesame@a,b/cards?target_session_attrs=prefer-standby", /any, read-write, primary/],
  ["postgres://u:sesame@a/cards?sslmode=prefer", /disable, require, verify-ca or verify-full/],
  ["postgres://u:sesame@a/cards?sslmode=verify-ca", /sslrootcert/],
  ["postgres://u:sesame@a/cards?sslrootcert=system", /need sslmode/],
  [
    "postgres://u:sesame@a/cards?sslmode=verify-full&sslrootcert=/nowhere",
    /cannot be read \(ENOENT\): \/nowhere/,
  ],
  ["postgres://u:sesame@a/cards?sslmod=verify-full", /not known. Is one mistyped/],
  ["postgres://u:1?sesame@a/cards", /name:port|not known/],
  ["postgres://u:sesame@a/cards?pgbouncer=yes", /pgbouncer must be true or false/],
])("an address that can't be used is refused in plain words, without its password", (url, says) => {
  let message = "";
  try {
    readAddress(url);
  } catch (error) {
    message = (error as Error).message;
  }
  expect(message).toMatch(says);
  expect(message).not.toContain("sesame");
});
