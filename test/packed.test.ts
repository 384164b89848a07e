import { execFile } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { installNode, packPackages, published } from "../scripts/packed/pack.mjs";
import { tryProject } from "../scripts/packed/project.mjs";
import { readBlock } from "./support/page-blocks.js";

const current = { version: process.versions.node, path: process.execPath };
let folder: string;
let tarballs: Record<string, string>;
let oldest: Awaited<ReturnType<typeof installNode>>;

beforeAll(async () => {
  // Outside of the repository, or its packages would be found too.
  folder = await mkdtemp(path.join(os.tmpdir(), "giftcard-packed-"));
  tarballs = await packPackages(published, path.join(folder, "tarballs"));
  oldest = await installNode("20.19.0", folder);
}, 240_000);

afterAll(() => rm(folder, { recursive: true, force: true }));

// The newest Node, more libraries for pages, and a Medusa store: npm run packed.
describe("the packed packages in a stranger's project", () => {
  for (const kind of ["esm", "cjs"] as const) {
    it(`install, compile and sell on the oldest Node and on this one, as ${kind}`, async () => {
      const nodes = [oldest, current];
      const said = await tryProject({ kind, tarballs, nodes, folder: path.join(folder, kind) });
      expect(said).toEqual([
        "paid 74.98 = 50.00 + 24.98 and gave it back, with PostgreSQL",
        "paid 74.98 = 50.00 + 24.98 and gave it back, with PostgreSQL and SQLite",
      ]);
    }, 240_000);
  }

  it("is required as the checkout's README says", async () => {
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
});
