import { tell } from "./bank-actions.js";
import { type Books, readBooks } from "./books.js";
import { judgeAnswers } from "./judge-answers.js";
import { judgeBooks, type Violation } from "./judge-books.js";
import type { Round } from "./round.js";
import { LEASE_MS, PENDING_LIFE_MS, type Stage } from "./stage.js";

const POLL_MS = 400;
/** Books that stay the same over so many recoveries stay so. */
const RECOVERIES = 2;
/** What is wrong has more of them to become right. */
const RECOVERIES_IF_WRONG = 6;
/** Only ends what hangs: on a busy machine a recovery takes many seconds. */
const SETTLE_MS = 600_000;
const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

export interface Verdict {
  readonly books: Books;
  readonly violations: readonly Violation[];
}

/** Lets what is under way come to its end, recovers until nothing changes, and says which promises weren't kept. */
export async function settle(stage: Stage, round: Round): Promise<Verdict> {
  const endedAt = performance.now();
  await tellOfPayments(stage, round);
  let last = "";
  let recoveries = 0;
  for (;;) {
    const forMs = performance.now() - endedAt;
    // Recovery judges an order only when nothing can be at work at it any more.
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

/** What was said can't become right by waiting; what is in the books can. */
function judge({ world }: Stage, round: Round, books: Books): (Violation & { isLasting: boolean })[] {
  const calls = world.giftcards.proxy.seen.slice(round.callsBefore);
  const devalues = calls
    .filter(({ operation }) => operation === "devalue")
    .map((call) => call.idempotencyKey);
  return [
    ...judgeBooks(round, books, devalues).map((violation) => ({ ...violation, isLasting: false })),
    ...judgeAnswers(round).map((violation) => ({ ...violation, isLasting: true })),
  ];
}

/** A bank tells of a payment again and again until the shop has heard of it. */
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

/** As the scheduled job does; a retry that is minutes away comes now. @returns whether it answered */
async function recover(stage: Stage, { carts }: Round): Promise<boolean> {
  const ids = carts.map(({ id }) => id);
  await stage.world.shopBooks.query(
    "update giftcard_charge set next_try_at = now() where cart_id = any($1)",
    [ids],
  );
  const answer = await stage
    .medusa(0)
    .send("POST", "/admin/giftcard-pay/recover", {})
    .catch(() => undefined);
  return answer?.status === 200;
}
