/** Buys in the Vendure shop by its Shop API, and prints what the cards and the other method got. */
import { build } from "./build.mjs";
import { command } from "./command.mjs";

const HELP = `Starts examples/vendure with the card service, a bank and databases of its own, and buys there by Vendure's APIs: card and
bank, cards alone, a refund, a cancel, a shopper who waits too long, and a shop that crashes in between. Prints the
amounts at the cards and the bank each time, and fails if one is wrong by a cent. Takes a minute; the first run
installs Vendure in examples/vendure.

  npm run vendure

To test every fault: npm run faults -- --vendure
`;

await command({ help: HELP }, async ({ signal, say }) => {
  await build(["service", "vendure"], {
    signal,
    progress: (text) => text.endsWith("up to date") || say(text),
  });
  const { openStage } = await import("./demo/vendure-stage.mjs");
  const { buyInSixWays } = await import("./demo/vendure-purchase.mjs");
  const stage = await openStage({ say, signal });
  try {
    await buyInSixWays(stage, say);
  } finally {
    await stage.stop();
  }
  say("all amounts are exact");
});
