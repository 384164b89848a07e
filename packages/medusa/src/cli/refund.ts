import { readFile } from "node:fs/promises";
import { createInterface } from "node:readline/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { Command } from "commander";
import { euro } from "../amount.js";
import type { Sold } from "../medusa-tables/bulk-refunds.js";
import type { BulkRefundPlan, BulkRefundReport } from "../refunds/bulk-store.js";
import { sentencesOf } from "../sentences.js";
import { CommandFailure } from "./failure.js";

interface RefundOptions {
  variant?: string;
  product?: string;
  orders?: string;
  url?: string;
  dryRun?: boolean;
  confirm?: string;
  capture?: boolean;
  json?: boolean;
}

type Report = Omit<BulkRefundReport, "createdAt"> & { createdAt: string };

const POLL_MS = 500;

const HELP = `
Refunds each order that contains it: the card's part to the card, the remainder by the order's other payment. Prints the
plan first. The running shop makes the refunds; this command requests and watches them. You can stop it at any time: the
shop continues, and the same command watches again.

It needs a secret API key of the shop's admin in MEDUSA_API_KEY. FILE contains an order's id in each line. Such an order is
refunded in full.

Examples:
  MEDUSA_API_KEY=sk_… giftcard-medusa refund --product prod_01… --dry-run
  MEDUSA_API_KEY=sk_… giftcard-medusa refund --product prod_01… --confirm "Summer Night Festival"

Exits with 1 if an order can't be refunded automatically, or waits for a person. The report states the reason.`;

/** `giftcard-medusa refund`: refunds everything that was sold of a product. */
export function refundCommand(): Command {
  return new Command("refund")
    .description("Refund everything that was sold of a product or variant")
    .option("--variant <id>", "a variant, such as one date")
    .option("--product <id>", "all variants of a product")
    .option("--orders <file>", "whole orders, one id per line")
    .option("--url <url>", "the running shop (or MEDUSA_BACKEND_URL, or http://localhost:9000)")
    .option("--dry-run", "show what it would do, and change nothing")
    .option(
      "--capture",
      "capture what isn't captured yet, then refund it too. This also counts manual payments as received",
    )
    .option("--confirm <title>", "what is refunded, as the plan calls it; without it you are asked to type it")
    .option("--json", "one JSON value on standard output")
    .addHelpText("after", HELP)
    .action(async (options: RefundOptions) => {
      const sold = await readSoldOptions(options);
      const call = adminAt(options);
      const { bulkRefunds } = await call<{ bulkRefunds: Report[] }>("GET", "bulk-refunds");
      const running = bulkRefunds.find((bulkRefund) => bulkRefund.open > 0 && isSame(bulkRefund.sold, sold));
      const say = (text: string) => void (options.json ? process.stderr : process.stdout).write(text);
      if (running && !options.dryRun) {
        say(`${running.title}: a refund is already in progress, started by ${running.actor}\n`);
        return report(options, null, await watch(call, running.id));
      }
      process.stderr.write("planning…\n");
      const { plan } = await call<{ plan: BulkRefundPlan }>("POST", "refund-plan", {
        ...sold,
        capture: options.capture ?? false,
      });
      if (!options.json || !options.dryRun) say(planText(plan));
      if (options.dryRun || plan.orders.length === 0) return report(options, plan, null);
      await confirm(plan, options);
      const { title, amountCents, captureCents } = plan;
      const { bulkRefund } = await call<{ bulkRefund: Report }>("POST", "bulk-refunds", {
        sold,
        title,
        amountCents,
        captureCents,
      });
      report(options, plan, await watch(call, bulkRefund.id));
    });
}

async function readSoldOptions({ variant, product, orders }: RefundOptions): Promise<Sold> {
  if ([variant, product, orders].filter((choice) => choice !== undefined).length !== 1)
    throw new CommandFailure("Give one of --variant, --product and --orders.", 2);
  if (variant !== undefined) return { variantId: variant };
  if (product !== undefined) return { productId: product };
  const text = await readFile(String(orders), "utf8").catch(() => {
    throw new CommandFailure(`The file ${orders} can't be read.`, 2);
  });
  const orderIds = text.split("\n").flatMap((line) => line.trim() || []);
  if (orderIds.length === 0) throw new CommandFailure(`The file ${orders} has no order in it.`, 2);
  return { orderIds };
}

const isSame = (a: Sold, b: Sold) =>
  JSON.stringify(Object.entries(a).sort()) === JSON.stringify(Object.entries(b).sort());

type Call = <T>(method: string, path: string, body?: unknown) => Promise<T>;

/**
 * Creates a caller of the shop's admin API. @throws {CommandFailure} if no key is set, the shop can't be reached, or
 * it refuses
 */
function adminAt({ url = process.env.MEDUSA_BACKEND_URL ?? "http://localhost:9000" }: RefundOptions): Call {
  if (!URL.canParse(url)) throw new CommandFailure(`${url} isn't a shop's address, such as http://localhost:9000.`, 2);
  const key = process.env.MEDUSA_API_KEY;
  if (!key)
    throw new CommandFailure(
      "Set MEDUSA_API_KEY to a secret API key of the shop: Settings, Secret API Keys in its admin.",
      2,
    );
  const authorization = `Basic ${Buffer.from(`${key}:`).toString("base64")}`;
  return async <T>(method: string, path: string, body?: unknown): Promise<T> => {
    const response = await fetch(new URL(`/admin/giftcard-pay/${path}`, url), {
      method,
      headers: { authorization, "content-type": "application/json" },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    }).catch((error: { cause?: { code?: string } }) => {
      throw new CommandFailure(
        `The shop at ${new URL(url).origin} can't be reached (${error.cause?.code ?? "no answer"}).`,
      );
    });
    const answer = (await response.json().catch(() => ({}))) as { message?: string };
    if (response.status === 404 && path === "refund-plan")
      throw new CommandFailure(
        "There is no such product or variant. --product takes prod_…, --variant takes variant_….",
      );
    if (response.status === 401) throw new CommandFailure("The shop doesn't take the key in MEDUSA_API_KEY.", 2);
    if (!response.ok) throw new CommandFailure(answer.message ?? `The shop answered ${response.status}.`);
    return answer as T;
  };
}

async function confirm({ title }: BulkRefundPlan, { confirm: given }: RefundOptions): Promise<void> {
  if (given === title) return;
  const how = `Nothing was refunded. Give --confirm ${JSON.stringify(title)}.`;
  if (given !== undefined || !process.stdin.isTTY) throw new CommandFailure(how, 2);
  const lines = createInterface({ input: process.stdin, output: process.stderr });
  const typed = await lines.question(`Type "${title}" to refund it: `).finally(() => lines.close());
  if (typed.trim() !== title) throw new CommandFailure(how, 2);
}

/** Prints progress until the bulk refund is done. If the shop restarts meanwhile, it continues. */
async function watch(call: Call, id: string): Promise<Report> {
  for (let last: number | undefined; ; ) {
    const answer = await call<{ bulkRefund: Report }>("GET", `bulk-refunds/${id}`).catch((error: unknown) => {
      if (last === undefined) throw error;
      return null;
    });
    const bulkRefund = answer?.bulkRefund;
    if (bulkRefund && bulkRefund.open !== last) {
      last = bulkRefund.open;
      const waiting = bulkRefund.waiting.length > 0 ? `, ${bulkRefund.waiting.length} wait for a person` : "";
      process.stderr.write(
        `${bulkRefund.done} refunded, ${euro(bulkRefund.doneCents)}; ${bulkRefund.open} to go${waiting}\n`,
      );
    }
    if (bulkRefund?.open === 0) return bulkRefund;
    await sleep(POLL_MS);
  }
}

function report({ json, dryRun }: RefundOptions, plan: BulkRefundPlan | null, bulkRefund: Report | null): void {
  if (json) process.stdout.write(`${JSON.stringify({ plan, bulkRefund })}\n`);
  else if (bulkRefund) process.stdout.write(bulkRefundText(bulkRefund));
  else if (!dryRun && plan?.refused.length === 0) process.stdout.write("There is nothing to refund.\n");
  const refused = plan?.refused.length ?? 0;
  if (bulkRefund && refused > 0 && !json)
    process.stdout.write(`  ${ordersText(refused)} left out, for the reasons in the plan above\n`);
  if (refused > 0 || (bulkRefund?.waiting.length ?? 0) > 0) process.exitCode = 1;
}

const ordersText = (count: number): string => (count === 1 ? "1 order" : `${count} orders`);

function planText(plan: BulkRefundPlan): string {
  const { title, orders, refused, amountCents, captureCents, uncaptured, sums } = plan;
  const lines = [
    `${title}: ${ordersText(orders.length)}, ${euro(amountCents)}`,
    ...(captureCents > 0 ? [`  ${euro(captureCents)} is captured first`] : []),
    ...sums.map(({ providerId, isCard, cents }) => `  ${isCard ? "gift cards" : providerId} ${euro(cents)}`),
    ...orders.map(orderText),
    ...refused.map(
      ({ orderName, orderId, amountCents: cents, why }) =>
        `  ${orderName} ${orderId}: ${cents > 0 ? `not ${euro(cents)}. ` : ""}${sentencesOf(why)}`,
    ),
    ...(refused.length > 0 ? [`  ${ordersText(refused.length)} left out, for the reasons above`] : []),
    ...(uncaptured.orders > 0
      ? [
          `  --capture captures ${euro(uncaptured.cents)} of ${ordersText(uncaptured.orders)} first, and refunds them too`,
        ]
      : []),
  ];
  return `${lines.join("\n")}\n`;
}

function orderText({ orderName, orderId, parts, captures }: BulkRefundPlan["orders"][number]): string {
  const captured = captures.map(
    ({ cents, lastFour, providerId }) => `${euro(cents)} of ${payer(lastFour, providerId)}`,
  );
  const first = captured.length > 0 ? ` (captures ${captured.join(", ")} first)` : "";
  return `  ${orderName} ${orderId}: ${parts.map(partText).join(", ")}${first}`;
}

const payer = (lastFour: string | null, providerId: string) => (lastFour === null ? providerId : `card …${lastFour}`);

const partText = ({ lastFour, providerId, cents }: BulkRefundPlan["orders"][number]["parts"][number]) =>
  `${euro(cents)} to ${payer(lastFour, providerId)}`;

function bulkRefundText({ title, done, doneCents, waiting }: Report): string {
  const lines = [
    `${title}: ${ordersText(done)} refunded, ${euro(doneCents)}`,
    ...waiting.map(
      ({ orderName, orderId, amountCents, why }) =>
        `  ${orderName} ${orderId}, ${euro(amountCents)}: ${sentencesOf(why)}`,
    ),
    ...(waiting.length > 0 ? ["  They wait for a person, on the admin's page Gift cards."] : []),
  ];
  return `${lines.join("\n")}\n`;
}
