/** Runs the Vendure shop, or buys there by its Shop API and prints what the cards and the other method got. */
import { existsSync } from "node:fs";
import path from "node:path";
import { build } from "../build.mjs";
import { command, interrupted, loadTypeScript, UsageError } from "../lib/command.mjs";

const HELP = `Starts examples/vendure with the card service, a bank and databases of its own. The first run installs Vendure.

  npm run vendure              prints the addresses and a card to pay with; Ctrl-C stops it
  npm run vendure -- --nextjs <folder>
                               adds gift cards to a copy of Vendure's Next.js starter, builds it, and buys there in a browser:
                               cards alone, card and bank, a wrong PIN, removed and refused cards, a bank that fails, and a
                               changed cart. Takes five minutes, and needs the npm registry

                                 git clone https://github.com/vendurehq/nextjs-starter-vendure

                               --pictures <folder>   saves screenshots of the pages there
                               --only <text>         only purchases whose name contains this
                               --in <folder>         works in this folder and keeps it
  npm run vendure -- --buy     buys by Vendure's APIs in six ways: card and bank, cards alone, a refund, a cancel, a shopper who
                               waits too long, and a shop that crashes in between. Prints the amounts at the cards and the bank
                               each time, and fails if one is wrong by a cent. Takes a minute

To test every fault: npm run faults -- --vendure
`;

const options = /** @type {const} */ ({
  buy: { type: "boolean" },
  nextjs: { type: "string" },
  pictures: { type: "string" },
  only: { type: "string" },
  in: { type: "string" },
});

await command({ help: HELP, options }, async ({ values, signal, say }) => {
  const { nextjs, pictures, only } = values;
  if (nextjs !== undefined && !existsSync(path.join(nextjs, "package.json")))
    throw new UsageError(`There is no package.json in ${nextjs}.`);
  await build(["service", "vendure", ...(nextjs ? ["widget"] : [])], {
    signal,
    progress: (text) => text.endsWith("up to date") || say(text),
  });
  if (nextjs) {
    /** @type {typeof import("../../test/prove/vendure-nextjs/run.js")} */
    const { tryStorefront } = await loadTypeScript("test/prove/vendure-nextjs/run.ts");
    const workshop = values.in && path.resolve(values.in);
    const wrong = await tryStorefront({ source: nextjs, workshop, pictures, only, say, signal });
    if (signal.aborted) return 0;
    say(wrong.length > 0 ? `${wrong.length} failed: ${wrong.join("; ")}` : "all passed");
    return wrong.length > 0 ? 1 : 0;
  }
  const { openStage } = await import("./vendure-stage.mjs");
  const { buyInSixWays } = await import("./vendure-purchase.mjs");
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
