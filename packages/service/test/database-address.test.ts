import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { readAddress } from "../src/database/address.js";

const folder = fs.mkdtempSync(path.join(os.tmpdir(), "giftcard-address-"));
afterAll(() => fs.rmSync(folder, { recursive: true }));
const rootFile = path.join(folder, "root.crt");
fs.writeFileSync(rootFile, "a certificate");

describe("the host", () => {
  test("is passed on to the driver, together with all parameters that are not read here", () => {
    expect(readAddress("postgres://me:pa%40ss@db.internal:5433/cards?application_name=x")).toEqual({
      connectionString: "postgres://me:pa%40ss@db.internal:5433/cards?application_name=x",
      ssl: undefined,
      isPooled: false,
    });
    expect(readAddress("postgres://me@[::1]:6000/cards?sslmode=disable&pgbouncer=true")).toEqual({
      connectionString: "postgres://me@[::1]:6000/cards",
      ssl: false,
      isPooled: true,
    });
  });

  test("may be missing, or the folder of a Unix socket", () => {
    expect(readAddress("postgres:///cards?host=/run/postgresql").connectionString).toBe(
      "postgres:///cards?host=%2Frun%2Fpostgresql",
    );
    expect(readAddress("postgres://me@%2Frun%2Fpostgresql/cards").connectionString).toBe(
      "postgres://me@%2Frun%2Fpostgresql/cards",
    );
    expect(readAddress("postgres://me@/cards").connectionString).toBe("postgres://me@/cards");
  });
});

describe("sslmode, as in libpq,", () => {
  const sslOf = (query: string) => readAddress(`postgres://a/cards?${query}`).ssl;

  test("trusts any server if it is require, checks the authority if it is verify-ca, and also the name if it is verify-full", () => {
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
  ["mysql://u:sesame@a/cards", /is not valid. Write postgres:/],
  ["sesame", /is not valid/],
  ["postgres://u:sesame@a:b:c/cards", /is not valid/],
  ["postgres://u:sesame@a:99999/cards", /is not valid/],
  ["postgres://u:sesame@a:5432,b:5433/cards", /several hosts/],
  ["postgres://u:sesame@/cards?host=a,b", /several hosts/],
  ["postgres://u:sesame@a/cards?target_session_attrs=read-write", /several hosts/],
  ["postgres://u:sesame@a/cards?sslmode=prefer", /disable, require, verify-ca or verify-full/],
  ["postgres://u:sesame@a/cards?sslmode=verify-ca", /sslrootcert/],
  ["postgres://u:sesame@a/cards?sslrootcert=system", /need sslmode/],
  ["postgres://u:sesame@a/cards?sslmode=verify-full&sslrootcert=/nowhere", /cannot be read \(ENOENT\): \/nowhere/],
  ["postgres://u:sesame@a/cards?sslmod=verify-full", /unknown parameter. Is one mistyped/],
  ["postgres://u:1?sesame@a/cards", /is not valid|unknown/],
  ["postgres://u:sesame@a/cards?pgbouncer=yes", /pgbouncer must be true or false/],
])("an invalid address is rejected with a reason that does not show its password", (url, reason) => {
  let message = "";
  try {
    readAddress(url);
  } catch (error) {
    message = (error as Error).message;
  }
  expect(message).toMatch(reason);
  expect(message).not.toContain("sesame");
});
