import { tell } from "./bank-actions.js";
import { type Books, readBooks } from "./books.js";
import { judgeAnswers } from "./judge-answers.js";
import { judgeBooks, type Violation } from "./judge-books.js";
import type { Round } from "./round.js";
import { LEASE_MS, PENDING_LIFE_MS, type Stage } from "./stage.js";

const POLL_MS = 400;
/** Books that don't change over this many recoveries are final. */
const RECOVERIES = 2;
/** Books with violations get this many recoveries to become right. */
const RECOVERIES_IF_WRONG = 6;
/** Ends a round that hangs. Long, because a recovery takes many seconds on a busy machine. */
const SETTLE_MS = 600_000;
const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

export interface Verdict {
  readonly books: Books;
  readonly violations: readonly Violation[];
}

/** Runs recovery until the books no longer change, then returns the broken promises. */
export async function settle(stage: Stage, round: Round): Promise<Verdict> {
  const endedAt = performance.now();
  await tellOfPayments(stage, round);
  let last = "";
  let recoveries = 0;
  for (;;) {
    const forMs = performance.now() - endedAt;
    // Recovery acts on an order only after every lease on it has expired.
    if (forMs > LEASE_MS && (await recover(stage, round))) recoveries += 1;
    const books = await readBooks(stage, round);
    const state = JSON.stringify(books);
    const isPending = stage.allowsPending && books.pending.length > 0 && forMs < PENDING_LIFE_MS;
    if (state !== last || isPending) recoveries = 0;
    last = state;
    const violations = recoveries >= RECOVERIES ? judge(stage, round, books) : [];
    const isRight = violations.every(({ isLasting }) => isLasting);
    if (recoveries >= (isRight ? RECOVERIES : RECOVERIES_IF_WRONG)) return { books, violations };
    if (forMs > SETTLE_MS) return { books, violations: judge(stage, round, books) };
    await pause(POLL_MS);
  }
}

/** Finds all violations. Those of answers are lasting: later recoveries can fix the books, but not an answer. */
function judge({ world }: Stage, round: Round, books: Books): (Violation & { isLasting: boolean })[] {
  const calls = world.giftcards.proxy.seen.slice(round.callsBefore);
  const devalues = calls.filter(({ operation }) => operation === "devalue").map((call) => call.idempotencyKey);
  return [
    ...judgeBooks(round, books, devalues).map((violation) => ({ ...violation, isLasting: false })),
    ...judgeAnswers(round, books).map((violation) => ({ ...violation, isLasting: true })),
  ];
}

/** Sends the webhooks of payments on the bank's own page again, as a bank does until one is acknowledged. */
async function tellOfPayments(stage: Stage, round: Round): Promise<void> {
  const { bank } = stage.world;
  for (const cart of round.carts) {
    const paid = bank.deeds(cart.id).filter(({ deed }) => deed === "pay");
    for (const { session, amount } of paid) {
      if (!bank.held().some((held) => held.session === session)) continue;
      // The second Medusa never dies.
      const actor = { role: "bank", cart: cart.index, medusa: 1, steps: [] } as const;
      const scene = { stage, round, cart, actor, name: `bank of cart ${cart.index}` };
      const body = { action: "captured", session_id: session, amount, cart: cart.id };
      await tell(scene, { do: "webhook" }, body);
    }
  }
}

/** Runs recovery like the scheduled job, with all retries due now. @returns whether it succeeded */
async function recover(stage: Stage, { carts }: Round): Promise<boolean> {
  const ids = carts.map(({ id }) => id);
  await stage.world.shopBooks.query("update giftcard_charge set next_try_at = now() where cart_id = any($1)", [ids]);
  const answer = await stage
    .medusa(0)
    .send("POST", "/admin/giftcard-pay/recover", {})
    .catch(() => undefined);
  return answer?.status === 200;
}
