import { readSeals, resealAll } from "@giftcard-pay/checkout/plugin";
import type { Command } from "commander";
import { CommandFailure } from "./failure.js";
import { type ShopOptions, shopCommand, withShop } from "./shop.js";

const HELP = `
To change the sealing key without downtime:
  1. If you run several Medusa processes: add the new key after the old one in sealingKeys, and restart all of them.
  2. Move the new key before the old one, and restart every Medusa.
  3. Run this command. It is safe to repeat, and to run while the shop sells.
  4. Once nothing is left under the old key, remove that key from sealingKeys, and restart.

The keys are read from GIFTCARD_SEALING_KEYS ("id:key,id:key", the newest first). Without it, they are read from
medusa-config.ts or .js in the shop's folder, or from the build in .medusa/server if the folder has neither. The command
prints which file it reads.`;

export function resealCommand(): Command {
  return shopCommand("reseal", "Seal every card and cancel token in use under the newest sealing key")
    .addHelpText("after", HELP)
    .action(async (options: ShopOptions) => {
      const report = await reseal(options);
      if (options.json) process.stdout.write(`${JSON.stringify(report)}\n`);
      else process.stdout.write(`resealed ${report.resealed} under "${report.key}"; ${describe(report.sealed)}\n`);
    });
}

function reseal(options: ShopOptions) {
  return withShop(options, async ({ journal, sealer: open }) => {
    const sealer = open();
    const before = await readSeals(journal, sealer);
    if (before.unopenable > 0) {
      throw new CommandFailure(
        `${before.unopenable} values are sealed under keys that are not set: ${before.missingKeyIds.join(", ")}. ` +
          "Add them after the newest key. Nothing was changed.",
      );
    }
    const total = Object.entries(before.counts).reduce(
      (sum, [id, count]) => sum + (id === sealer.newestKeyId ? 0 : count),
      0,
    );
    const resealed = await resealAll(journal, sealer, (done) => {
      if (!options.json) process.stderr.write(`resealed ${done} of ${total}\n`);
    });
    return { key: sealer.newestKeyId, resealed, sealed: (await readSeals(journal, sealer)).counts };
  });
}

function describe(counts: Record<string, number>): string {
  const parts = Object.entries(counts).map(([id, count]) => `${count} under "${id}"`);
  return parts.length === 0 ? "nothing is sealed" : `now ${parts.join(", ")}`;
}
