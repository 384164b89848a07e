/** Refunds a show with many orders while everything dies, and holds the books of all sides against each other. */
import { build } from "./build.mjs";
import { command, loadTypeScript, UsageError } from "./command.mjs";

const HELP = `Refunds a show of many orders while Medusa is killed each second and the service is away half of the time.
Then it proves, order by order, that each card and the bank gave back their part once, and that Medusa's books say so.

  npm run bulk-refund                    1,000 orders: about an hour
  npm run bulk-refund -- --orders 50     a smaller show

  --life <ms>   how long Medusa lives each time, on average (default 1000)
  --seed <n>    from which the moments of death come (default 1)
  --json        the result as JSON, progress on the other output

Ends with 1 when a cent is in the wrong place.
`;

/** @param {string} text @param {string} name @param {number} least */
function read(text, name, least) {
  const value = Number(text);
  if (!Number.isInteger(value) || value < least)
    throw new UsageError(`--${name} is a whole number from ${least} on.`);
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
  /** @type {typeof import("../test/bulk-refund/run.js")} */
  const { runBulkRefund } = await loadTypeScript("test/bulk-refund/run.ts");
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
