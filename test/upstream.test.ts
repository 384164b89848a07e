// @module-tag long
import { execFileSync } from "node:child_process";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import { afterAll, beforeAll, expect, inject, it } from "vitest";
import { createStoreDatabase, runMedusa } from "../scripts/shops/medusa-store.mjs";
import { listPatches, makePatchedCopies } from "./upstream/patches.js";

const appDir = path.join(import.meta.dirname, "upstream/shop");
const redirect = path.join(import.meta.dirname, "upstream/redirect.cjs");

let folder: string;
let results: { asReleased: any; patched: any };

beforeAll(async () => {
  folder = await mkdtemp(path.join(os.tmpdir(), "giftcard-upstream-"));
  const copies = makePatchedCopies(folder, listPatches());
  const run = async (name: string, patched: object) => {
    const file = path.join(folder, `${name}.json`);
    const databaseUrl = await createStoreDatabase(inject("postgresUrl"));
    await runMedusa(["exec", "scenarios.js"], {
      databaseUrl,
      appDir,
      env: { NODE_OPTIONS: `--require=${redirect}`, TEST_PATCHED: JSON.stringify(patched), TEST_RESULTS: file },
    });
    return JSON.parse(await readFile(file, "utf8"));
  };
  const [asReleased, patched] = await Promise.all([run("as-released", {}), run("patched", copies)]);
  results = { asReleased, patched };
}, 480_000);

afterAll(() => rm(folder, { recursive: true, force: true }));

it("x", () => { console.log(JSON.stringify(results, null, 1)); });
