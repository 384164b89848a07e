/** Jest in a Medusa store, with the configuration and the commands that `create-medusa-app` writes. */
import { cp } from "node:fs/promises";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { runNode } from "../lib/process.mjs";

const tests = fileURLToPath(new URL("../../test/packed/jest-store", import.meta.url));

/** Brings Jest's configuration and the tests into a store. @param {string} folder */
export async function addJest(folder) {
  await cp(tests, folder, { recursive: true });
}

/**
 * Runs the tests of one type.
 *
 * @param {object} options
 * @param {string} options.folder a store with `addJest`'s files and Jest installed
 * @param {"unit" | "integration:http"} options.type
 * @param {string} [options.node]
 * @param {Record<string, string>} [options.env]
 * @param {AbortSignal} [options.signal]
 * @throws with Jest's output if a test fails, or none is found
 */
export async function runJest({ folder, type, env, ...how }) {
  await runNode({
    ...how,
    name: `Jest (${type})`,
    args: [path.join(folder, "node_modules/jest/bin/jest.js"), "--runInBand", "--forceExit"],
    cwd: folder,
    env: { ...env, TEST_TYPE: type, NODE_OPTIONS: "--experimental-vm-modules", NODE_ENV: "test" },
  });
}
