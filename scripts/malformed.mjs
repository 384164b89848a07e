/** A minute of malformed input against the service: what its tests do for some seconds, for longer. */
import path from "node:path";
import { build } from "./build.mjs";
import { command, root, UsageError, vitest } from "./command.mjs";
import { runNode } from "./process.mjs";

const HELP = `Malformed input at a real service: what its tests do for some seconds, for longer.

  npm run malformed            for a minute
  npm run malformed -- 600     for ten
`;

await command({ help: HELP, positionals: true }, async ({ positionals: [seconds = "60"], signal, say }) => {
  if (!(Number(seconds) > 0)) throw new UsageError("The seconds have to be a number above 0.");
  await build(["service"], { progress: say, signal });
  const said = await runNode({
    name: "malformed input",
    args: [vitest, "run", "test/malformed.test.ts"],
    cwd: path.join(root, "packages/service"),
    env: { MALFORMED_SECONDS: seconds },
    signal,
  });
  say(said);
});
