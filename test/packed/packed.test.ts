// @module-tag long
import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { oldestTypeScript } from "../../scripts/packed/oldest-types.mjs";
import { installNode, packPackages, published } from "../../scripts/packed/pack.mjs";
import { tryProject } from "../../scripts/packed/project.mjs";
import { tryVendure } from "../../scripts/packed/vendure.mjs";
import { readBlock } from "../support/page-blocks.js";
import { type Mistake, makeMistake, whereThrown } from "../support/typescript-line.js";

const current = { version: process.versions.node, path: process.execPath };
let folder: string;
let tarballs: Record<string, string>;
let oldest: Awaited<ReturnType<typeof installNode>>;

beforeAll(async () => {
  // Outside the repository, or Node would also resolve the packages from there.
  folder = await mkdtemp(path.join(os.tmpdir(), "giftcard-packed-"));
  tarballs = await packPackages(published, path.join(folder, "tarballs"));
  oldest = await installNode("20.19.0", folder);
}, 240_000);

afterAll(() => rm(folder, { recursive: true, force: true }));

const clientLine = {
  source: "packages/client/src/options.ts",
  line: "must be an http or https address, such as",
};
const checkoutLine = {
  source: "packages/checkout/src/checkout-options.ts",
  line: " has to be $",
};
const mistakes: Mistake[] = [
  {
    name: "the client, imported",
    kind: "module",
    program: 'import { createClient } from "@giftcard-pay/client"; createClient({});',
    ...clientLine,
  },
  {
    name: "the client, required",
    kind: "commonjs",
    program: 'require("@giftcard-pay/client").createClient({});',
    ...clientLine,
  },
  {
    name: "the library, imported",
    kind: "module",
    program: 'import { createCheckout } from "@giftcard-pay/checkout"; createCheckout({});',
    ...checkoutLine,
  },
  {
    name: "the library, required",
    kind: "commonjs",
    program: 'require("@giftcard-pay/checkout").createCheckout({});',
    ...checkoutLine,
  },
  {
    name: "events",
    kind: "commonjs",
    program: 'require("@giftcard-pay/events/icalendar").iCalendar({});',
    source: "packages/events/src/formats/icalendar.ts",
    line: "const printable =",
  },
  {
    name: "the service",
    kind: "module",
    program: 'import { openPool } from "@giftcard-pay/service"; openPool("nowhere", () => {});',
    source: "packages/service/src/database/address.ts",
    line: "const wrong =",
  },
  {
    name: "the widget",
    kind: "commonjs",
    program: 'require("@giftcard-pay/widget").GiftcardPay.define("a-tag", { get: () => thrown });',
    source: "packages/widget/src/giftcard-element.ts",
    line: "const registered = registry?.get(tag);",
  },
];

// `npm run packed` also covers both kinds on each Node, the newest Node, more frontend libraries and a Medusa store.
describe("the packed packages in a new project", () => {
  it.each([
    { kind: "esm", on: "the oldest Node", node: () => oldest, stores: "PostgreSQL" },
    { kind: "cjs", on: "this Node", node: () => current, stores: "PostgreSQL and SQLite" },
  ] as const)(
    "install, compile and pay an order on $on, as $kind",
    async ({ kind, node, stores }) => {
      const nodes = [node()];
      const said = await tryProject({ kind, specs: tarballs, nodes, folder: path.join(folder, kind) });
      expect(said).toEqual([`paid 74.98 = 50.00 + 24.98 and gave it back, with ${stores}`]);
    },
    240_000,
  );

  it.each(Object.entries(oldestTypeScript))(
    "compile with TypeScript %s or newer, as the READMEs of %j state",
    async (version, names) => {
      for (const name of names) {
        const readme = await readFile(path.join(import.meta.dirname, "../../packages", name, "README.md"), "utf8");
        expect(readme.replace(/\s+/g, " ")).toContain(`TypeScript ${version} or newer`);
      }
    },
  );

  it("load by require, as in the checkout's README", async () => {
    const block = await readBlock("packages/checkout/README.md", "shop.cjs");
    const look =
      "console.log([createCheckout, createHandler, createPostgresStore, createClient].map((f) => typeof f));";
    const file = path.join(folder, "cjs", "shop.cjs");
    await writeFile(file, `${block}${look}console.log(widget.includes("giftcard-pay"));`);
    for (const node of [oldest, current]) {
      const { stdout, stderr } = await promisify(execFile)(node.path, [file]);
      expect(stdout).toBe("[ 'function', 'function', 'function', 'function' ]\ntrue\n");
      expect(stderr).toBe("");
    }
  });

  it.each(mistakes)("show the TypeScript line that throws in a stack trace: $name", async (mistake) => {
    const said = await makeMistake(path.join(folder, "cjs"), mistake);
    expect(said).toContain(`${await whereThrown(mistake)}:`);
    expect(said).not.toMatch(/@giftcard-pay\/\w+\/dist/);
  });
});

it("the Vendure plugin sells, refunds and recovers in a fresh shop", async () => {
  const said: string[] = [];
  const shop = { specs: tarballs, folder: path.join(folder, "vendure"), release: "example", node: current };
  await tryVendure(shop, { progress: (text) => said.push(text), signal: new AbortController().signal });
  expect(said.join("\n")).toContain("cancelled: cards 0.00, bank 0.00, order Cancelled");
}, 600_000);
