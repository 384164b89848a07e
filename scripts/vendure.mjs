/** Runs the Vendure shop, or buys there by its Shop API and prints what the cards and the other method got. */
import { build } from "./build.mjs";
import { command, interrupted } from "./command.mjs";

const HELP = `Starts examples/vendure with the card service, a bank and databases of its own. The first run installs Vendure.

  npm run vendure              prints the addresses and a card to pay with; Ctrl-C stops it
  npm run vendure -- --buy     buys by Vendure's APIs in six ways: card and bank, cards alone, a refund, a cancel, a shopper who
                               waits too long, and a shop that crashes in between. Prints the amounts at the cards and the bank
                               each time, and fails if one is wrong by a cent. Takes a minute

To test every fault: npm run faults -- --vendure
`;

const options = /** @type {const} */ ({ buy: { type: "boolean" } });

await command({ help: HELP, options }, async ({ values, signal, say }) => {
  await build(["service", "vendure"], { signal, progress: (text) => text.endsWith("up to date") || say(text) });
  const { openStage } = await import("./demo/vendure-stage.mjs");
  const { buyInSixWays } = await import("./demo/vendure-purchase.mjs");
  const stage = await openStage({ say, signal, isHasty: values.buy === true });
  try {
    if (values.buy) {
      await buyInSixWays(stage, say);
      say("all amounts are exact");
      return 0;
    }
    const { cardNumber, pin } = await stage.issueCard(7500);
    say(`
  Shop API     ${stage.url()}/shop-api
  Admin API    ${stage.url()}/admin-api   (superadmin, password ${stage.password})

  Gift card    ${cardNumber}   PIN ${pin}   holds 75.00

  Ctrl-C stops everything and removes its data.
`);
    await interrupted(signal);
    return 0;
  } finally {
    await stage.stop();
  }
});
