import { writeFile } from "node:fs/promises";
import { exportCsv, readExport } from "@giftcard-pay/checkout/plugin";
import type { Command } from "commander";
import { CommandFailure } from "./failure.js";
import { openReports, type ReportOptions, reportCommand } from "./report-command.js";
import { withShop } from "./shop.js";

interface ExportChargesOptions extends ReportOptions {
  from: string;
  to: string;
  output?: string;
}

const HELP = `
If the issuer had to restore its database, it lost the last charges, and this shop knows them. Send the file to the issuer, who
books them with \`giftcard-service transactions import\`. Choose whole days that include the lost time: the import leaves
charges that the issuer has alone.

The file has no card number or PIN. Of a cancel token it has only a hash, with which nobody can cancel. The sealing keys are read
as by \`giftcard-medusa reseal\`.`;

/** `giftcard-medusa export-charges`: writes the file that an issuer imports after a restore. */
export function exportChargesCommand(): Command {
  return reportCommand("export-charges", "Write the charges of some days for an issuer whose database was restored")
    .requiredOption("--from <yyyy-mm-dd>", "the first day, by the clock in Amsterdam")
    .requiredOption("--to <yyyy-mm-dd>", "the last day, which counts in full")
    .option("--output <file>", "the file to write, which must not exist (default: standard output)")
    .addHelpText("after", HELP)
    .action(async (options: ExportChargesOptions) => {
      const charges = await withShop(options, async (shop) =>
        readExport(await openReports(shop, options), shop.sealer(), options),
      ).catch((error: unknown) => {
        throw error instanceof RangeError ? new CommandFailure(error.message, 2) : error;
      });
      const text = options.json ? `${JSON.stringify(charges)}\n` : exportCsv(charges);
      if (options.output === undefined) process.stdout.write(text);
      else await write(options.output, text);
    });
}

async function write(file: string, text: string): Promise<void> {
  try {
    await writeFile(file, text, { flag: "wx", mode: 0o600 });
  } catch (error) {
    throw new CommandFailure(`${file} can't be written (${(error as { code?: string }).code}). Choose another file.`);
  }
  process.stderr.write(`written: ${file}\n`);
}
