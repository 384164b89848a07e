/** Makes the same calls to two Medusa shops, one with the plugin and one without, and compares answers and statements. */
import { build } from "../build.mjs";
import { recordRun } from "../check/written-tables.mjs";
import { command, loadTypeScript } from "../lib/command.mjs";

const HELP = `Starts two Medusa shops, one with the plugin and one without, and makes the same calls to both: carts, sessions, every
outcome of a payment method, webhooks, captures, refunds, cancels, edits, returns, odd ids and bodies, six carts at once. Nobody
uses a gift card. Compares every answer, and the number of statements per call.

  npm run prove -- beside   about 10 minutes

A run is recorded in docs/how-it-is-tested.md. Exits with 1 if the shops differ, except for the differences that
test/prove/beside/compare.ts allows with their reasons.
`;

/** @returns {Promise<typeof import("../../test/prove/beside/run.js")>} */
const load = () => loadTypeScript("test/prove/beside/run.ts");

await command({ help: HELP }, async ({ signal, say }) => {
  await build(["service", "checkout", "store"], { progress: say, signal });
  const { runBeside } = await load();
  const results = await runBeside(({ scene, calls, differences }) =>
    say(
      `${differences.length > 0 ? "BAD" : "ok "} ${scene}: ${calls} calls\n${differences.map((what) => `    ${what}\n`).join("")}`.trimEnd(),
    ),
  );
  const violations = results.reduce((sum, { differences }) => sum + differences.length, 0);
  const calls = results.reduce((sum, result) => sum + result.calls, 0);
  for (const reason of new Set(results.flatMap(({ reasons }) => reasons))) say(`allowed: ${reason}`);
  say(`${calls} calls, ${violations} differences`);
  await recordRun({ command: "npm run prove -- beside", extent: `${calls} calls`, violations });
  return violations > 0 ? 1 : 0;
});
