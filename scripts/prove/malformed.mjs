/** Sends malformed input to the service for a minute. The service's tests do the same for a few seconds. */
import path from "node:path";
import { build } from "../build.mjs";
import { command, root, UsageError, vitest } from "../lib/command.mjs";
import { runNode } from "../lib/process.mjs";

const HELP = `Sends malformed input to a real service. The service's tests do the same for a few seconds.

  npm run prove -- malformed       for a minute
  npm run prove -- malformed 600   for 600 seconds
`;

await command({ help: HELP, positionals: true }, async ({ positionals: [seconds = "60"], signal, say }) => {
  if (!(Number(seconds) > 0)) throw new UsageError("The seconds must be a number above 0.");
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
