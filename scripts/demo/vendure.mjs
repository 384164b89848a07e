/** Runs the Vendure shop, or buys there by its Shop API and prints what the cards and the other method got. */
import { build } from "../build.mjs";
import { interrupted } from "../lib/command.mjs";
import { installVendure } from "../lib/install-vendure.mjs";

/** @param {{ buy: boolean, progress: (text: string) => void, signal: AbortSignal }} options */
export async function runVendure({ buy, progress, signal }) {
  // The build installs Vendure too, but shows no progress.
  await installVendure({ say: progress, signal });
  progress("building what has changed");
  await build(["service", "vendure"], { progress: (text) => text.endsWith("up to date") || progress(text), signal });
  const { openStage } = await import("./vendure-stage.mjs");
  const { buyInSixWays } = await import("./vendure-purchase.mjs");
  const stage = await openStage({ say: progress, signal, isHasty: buy });
  try {
    if (buy) {
      await buyInSixWays(stage, progress);
      progress("all amounts are exact");
      return;
    }
    const { cardNumber, pin } = await stage.issueCard(7500);
    process.stdout.write(`
  Shop API     ${stage.url()}/shop-api
  Admin API    ${stage.url()}/admin-api   (superadmin, password ${stage.password})

  Gift card    ${cardNumber}   PIN ${pin}   holds 75.00

  Ctrl-C stops everything and removes its data.

`);
    await interrupted(signal);
  } finally {
    await stage.stop();
  }
}
