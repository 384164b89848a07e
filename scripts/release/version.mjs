/** Applies the pending changesets, and writes the new version everywhere. */
import path from "node:path";
import { command, root } from "../lib/command.mjs";
import { runNode } from "../lib/process.mjs";
import { published, runNpm, workspaces } from "../packed/pack.mjs";
import { readVersion, renewVersion, waitingChangesets } from "./version-places.mjs";

const HELP = `Makes the next version of all packages: raises it by what the changesets in .changeset ask for, moves their texts into
each CHANGELOG.md, and writes the version into the sources, the examples, the README and the lockfile. Publishes nothing.

  npm run release -- version    read what changed, then commit it as "chore: release X.Y.Z"

If no changeset is pending, the version doesn't change. It is only written to files that have another one.
`;

await command({ help: HELP }, async ({ signal, say }) => {
  const before = await readVersion(root, published);
  if ((await waitingChangesets(root)).length === 0) say("No changeset is pending.");
  else {
    const changeset = path.join(root, "node_modules", "@changesets", "cli", "bin.js");
    await runNode({ name: "changeset version", args: [changeset, "version"], cwd: root, signal });
  }
  const version = await readVersion(root, workspaces);
  for (const file of await renewVersion(root, version)) say(file);
  await runNpm(["install", "--package-lock-only", "--ignore-scripts"], { cwd: root, signal });
  say(before === version ? `It stays ${version}.` : `${before} -> ${version}`);
});
