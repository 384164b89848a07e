// @module-tag long
import { execFile } from "node:child_process";
import { mkdir, mkdtemp, readdir, realpath, rm, symlink, writeFile } from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, it } from "vitest";
import { addJest, runJest } from "../../scripts/packed/jest.mjs";
import { packPackages } from "../../scripts/packed/pack.mjs";
import { makeMistake, whereThrown } from "../support/typescript-line.js";

const installed = path.resolve(import.meta.dirname, "../../node_modules");
const ours = "@giftcard-pay";
let folder: string;

// Creates a store with our packages unpacked from their tarballs, and all others linked from this repository.
beforeAll(async () => {
  folder = await realpath(await mkdtemp(path.join(os.tmpdir(), "giftcard-jest-")));
  const modules = path.join(folder, "node_modules");
  await mkdir(modules);
  for (const name of await readdir(installed))
    if (name !== ours && name !== ".cache")
      await symlink(path.join(installed, name), path.join(modules, name), "junction");
  const tarballs = await packPackages(["client", "checkout", "events", "medusa"], path.join(folder, "tarballs"));
  for (const [name, tarball] of Object.entries(tarballs)) {
    await mkdir(path.join(modules, name), { recursive: true });
    const args = ["-xzf", tarball, "--strip-components=1", "-C", path.join(modules, name)];
    await promisify(execFile)("tar", args);
  }
  await writeFile(path.join(folder, "package.json"), '{ "name": "a-store", "private": true }\n');
  await addJest(folder);
}, 240_000);

afterAll(() => rm(folder, { recursive: true, force: true }));

// `npm run packed` runs a whole store under Jest.
it("Jest loads the plugin with the configuration of Medusa's starter", async () => {
  await expect(runJest({ folder, type: "unit" })).resolves.toBeUndefined();
});

it("shows the TypeScript line that rejects a wrong Medusa configuration in a stack trace", async () => {
  const mistake = {
    name: "the plugin",
    kind: "commonjs",
    program: 'require("@giftcard-pay/medusa/config").withGiftcard({ modules: { payment: { disable: true } } }, {});',
    source: "packages/medusa/src/config.ts",
    line: "throw new TypeError(",
  } as const;
  const said = await makeMistake(folder, mistake);
  expect(said).toContain(`${await whereThrown(mistake)}:`);
  expect(said).not.toContain(".medusa/server");
});
