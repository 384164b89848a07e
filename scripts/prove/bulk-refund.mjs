/** Runs a bulk refund of many orders while processes are killed, then compares the books of all sides. */
import { build } from "../build.mjs";
import { command, loadTypeScript, UsageError } from "../lib/command.mjs";

const HELP = `Runs a bulk refund of many orders while Medusa is killed every second and the service is down half of the time.
Then proves, order by order, that each card and the bank refunded their part once, and that Medusa's books agree.

  npm run prove -- bulk-refund               1,000 orders: about an hour
  npm run prove -- bulk-refund --orders 50   fewer orders

  --life <ms>   average time between two kills of Medusa (default 1000)
  --seed <n>    seed for the times of the kills (default 1)
  --json        prints the result as JSON, and progress on standard error

Exits with 1 if a cent is in the wrong place.
`;

/** @param {string} text @param {string} name @param {number} least */
function read(text, name, least) {
  const value = Number(text);
  if (!Number.isInteger(value) || value < least)
    throw new UsageError(`--${name} must be a whole number of at least ${least}.`);
  return value;
}

const options = /** @type {const} */ ({
  orders: { type: "string", default: "1000" },
  life: { type: "string", default: "1000" },
  seed: { type: "string", default: "1" },
  json: { type: "boolean" },
});

await command({ help: HELP, options }, async ({ values, signal, say }) => {
  const orders = read(values.orders, "orders", 1);
  const lifeMs = read(values.life, "life", 2);
  const seed = read(values.seed, "seed", 0);
  await build(["service", "checkout", "store"], { progress: say, signal });
  /** @type {typeof import("../../test/prove/bulk-refund/run.js")} */
  const { runBulkRefund } = await loadTypeScript("test/prove/bulk-refund/run.ts");
  say(`buying ${orders} orders`);
  const result = await runBulkRefund({ orders, lifeMs, seed, say, signal });
  if (signal.aborted) return;
  if (values.json) process.stdout.write(`${JSON.stringify(result, null, 2)}\n`);
  for (const what of result.wrong) say(`BAD ${what}`);
  const { kills, decisions, amountCents, minutes, wrong } = result;
  say(
    `${orders} orders, ${(amountCents / 100).toFixed(2)} euro: killed ${kills} times, ` +
      `${decisions} refunds that a person looked up at the bank, ${minutes.toFixed(1)} minutes`,
  );
  say(`books exact: ${result.orders} orders, ${wrong.length} faults`);
  return wrong.length > 0 ? 1 : 0;
});
