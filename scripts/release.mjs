/** Releases the packages: builds them afresh, checks, tests, packs, and publishes what isn't published yet. */
import { mkdtemp, rm } from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import { build } from "./build.mjs";
import { command, root, runSubcommand } from "./lib/command.mjs";
import { runNode } from "./lib/process.mjs";
import { packPackages, published } from "./packed/pack.mjs";
import { publishPackages } from "./release/publish.mjs";
import { checkReady, checkTagged } from "./release/readiness.mjs";
import { readVersion } from "./release/version-places.mjs";

/** The suites that run before a release: those that move money inside the caller's process. CI runs all suites for the tag. */
const TESTED = ["client", "checkout"];

const HELP = `Releases the packages at their current version: rebuilds them, runs npm run check and the tests of
${TESTED.join(" and ")}, packs, and publishes each package after its dependencies. Skips packages that are published
already with the same content, so it can be rerun after a partial failure. CI runs it for a tag, after all tests, and
publishes with provenance.

  npm run release -- version          makes the next version, and publishes nothing
  npm run release                     publishes; the commit must be tagged with its version
  npm run release -- --dry-run        does everything except publishing
  npm run release -- --registry URL   publishes to another registry than npm's, from any commit

  --json   prints the result of each package as JSON, and progress on standard error

CONTRIBUTING.md describes how to make a release.
`;

const options = /** @type {const} */ ({
  "dry-run": { type: "boolean" },
  registry: { type: "string" },
  json: { type: "boolean" },
});

if (!(await runSubcommand(["version"], new URL("release/", import.meta.url))))
  await command({ help: HELP, options }, async ({ values, signal, say }) => {
    const { "dry-run": isDryRun = false, registry, json } = values;
    const version = await readVersion(root, published);
    await checkReady(root, version);
    if (!isDryRun && registry === undefined) await checkTagged(root, version);
    say(`${version}: build`);
    // Outputs of removed sources must not be published.
    for (const output of published.flatMap((name) => [`${name}/dist`, `${name}/.medusa`]))
      await rm(path.join(root, "packages", output), { recursive: true, force: true });
    await build(published, { progress: say, signal });
    const output = json ? process.stderr : process.stdout;
    const run = (/** @type {string} */ script, /** @type {string[]} */ ...args) =>
      runNode({
        name: script,
        args: [path.join(root, "scripts", script), ...args],
        cwd: root,
        signal,
        onOutput: (text) => void output.write(text),
      });
    say("check, for some minutes");
    await run("check.mjs");
    say(`tests of ${TESTED.join(", ")}, for some minutes`);
    await run("test.mjs", ...TESTED);
    const scratch = await mkdtemp(path.join(os.tmpdir(), "giftcard-release-"));
    try {
      const tarballs = await packPackages(published, scratch, signal);
      const outcomes = await publishPackages({
        tarballs,
        isDryRun,
        say,
        signal,
        ...(registry && { registry }),
      });
      if (json) console.log(JSON.stringify(outcomes));
    } finally {
      await rm(scratch, { recursive: true, force: true });
    }
  });
