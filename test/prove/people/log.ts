import { euro } from "./admins.js";
import type { Books } from "./books.js";
import type { Violation } from "./judge-books.js";
import type { Entry, Round } from "./round.js";
import type { Stage } from "./stage.js";

const MOST_LOG_LINES = 12;

/** Describes a violated round for people: the broken promises, each step with its answer, and the books. */
export function tellStory(stage: Stage, round: Round, books: Books, violations: readonly Violation[]): string {
  const { scenario, entries, carts } = round;
  const concerned = new Set(violations.map(({ cart }) => cart).filter((cart) => cart >= 0));
  const isConcerned = (cart: number) => concerned.size === 0 || concerned.has(cart) || cart < 0;
  const lines = [
    ...violations.map(({ kind, what, cart }) => `VIOLATION ${kind}${cart >= 0 ? ` (cart ${cart})` : ""}: ${what}`),
    `  charges: ${scenario.charges}`,
    `  cards: ${scenario.cards.map((cents, index) => `${index}: ${euro(cents)}`).join(", ")}`,
  ];
  for (const { index, id } of carts.filter((cart) => isConcerned(cart.index))) {
    const items = scenario.carts[index]?.items.map(({ good, quantity }) => `${quantity} ${good}`);
    const { codes = [], delivery } = scenario.carts[index] ?? {};
    const more = [...codes, ...(delivery === 1 ? ["by post"] : [])];
    lines.push(`  cart ${index} (${id}): ${[...(items ?? []), ...more].join(", ")}`);
  }
  lines.push(...entries.filter(({ cart }) => isConcerned(cart)).map(lineOf));
  for (const { index, id } of carts.filter((cart) => isConcerned(cart.index))) {
    lines.push(`  books of cart ${index}: ${booksOf(books, id)}`);
  }
  return [...lines, ...errorsOf(stage, round)].join("\n");
}

function lineOf({ atMs, tookMs, who, what, status, type, code, message }: Entry): string {
  const answer = [status || "no answer", type, code, message?.slice(0, 140)].filter(Boolean).join(" ");
  const at = (atMs / 1000).toFixed(2).padStart(6);
  return `  ${at} s  ${who.padEnd(20)} ${what.padEnd(34)} → ${answer} (${Math.round(tookMs)} ms)`;
}

function booksOf({ orders, payments, charges, bank }: Books, cartId: string): string {
  const of = <T extends { cart_id: string }>(rows: readonly T[]) => rows.filter((row) => row.cart_id === cartId);
  const parts = [
    ...of(orders).map((order) => `order of ${euro(order.placed)}${order.is_canceled ? " canceled" : ""}`),
    ...of(payments).map(
      (payment) =>
        `${payment.is_gift ? "card" : "bank"} ${euro(payment.cents)}` +
        (payment.is_canceled ? " canceled" : "") +
        (payment.captured > 0 ? ` captured ${euro(payment.captured)}` : "") +
        (payment.refunded > 0 ? ` refunded ${euro(payment.refunded)}` : ""),
    ),
    ...of(charges).map(
      ({ state, amount_cents, reason }) => `charge of ${euro(amount_cents)} ${state}${reason ? ` (${reason})` : ""}`,
    ),
    ...bank.filter(({ cart }) => cart === cartId).map(({ cents }) => `the bank has ${euro(cents)}`),
  ];
  return parts.join("; ") || "nothing";
}

/** Returns the distinct errors and warnings that the Medusas logged during the round. */
function errorsOf({ world }: Stage, { logsBefore }: Round): string[] {
  const lines = world.logs().flatMap((log, index) => {
    const before = logsBefore[index] ?? 0;
    return log.slice(log.length < before ? 0 : before).split("\n");
  });
  const errors = lines.flatMap((line) => {
    if (!/"level":"(error|warn)"/.test(line)) return [];
    const message = /"message":"((?:[^"\\]|\\.)*)"/.exec(line)?.[1] ?? line;
    return [`  log: ${message.slice(0, 300)}`];
  });
  return [...new Set(errors)].slice(0, MOST_LOG_LINES);
}
