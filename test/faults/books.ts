import { checkBooks } from "../../packages/service/dist/store/books.js";
import { orderOf, type Purchase } from "./purchase.js";
import type { World } from "./world.js";

/**
 * How a purchase ended. `paid`: the order is there and each card was charged its part once. `whole`: no order, or a
 * cancelled one, and nobody's money is gone. `refunded`: the order is there, and all was given back. `person`: it can't
 * be known, and stands on the list of what a person has to settle. `open`: anything else, which is bad.
 */
export type Outcome = "paid" | "whole" | "refunded" | "person" | "open";

export interface Verdict {
  readonly outcome: Outcome;
  /** What is wrong, in words; empty where the books are exact. */
  readonly wrong: readonly string[];
}

interface AttemptRow {
  reference: string;
  state: string;
  order_id: string | null;
  amount_cents: number;
  deducted_cents: number | null;
  reason: string | null;
  balance_after_cents: string | number | null;
}

/** Everything that anybody wrote down about a purchase, in cents. */
interface Books {
  cards: {
    issuedCents: number;
    partCents: number;
    balanceCents: number;
    takenCents: number;
    taken: number;
  }[];
  attempts: AttemptRow[];
  // biome-ignore lint/suspicious/noExplicitAny: an order as Medusa's admin shows it
  order: any;
  isCartCompleted: boolean;
  payments: { isGift: boolean; cents: number; capturedCents: number; refundedCents: number }[];
  bankCents: number[];
}

/** Reads both sides' books and says how the purchase ended, and what doesn't add up. */
export async function judge(world: World, purchase: Purchase): Promise<Verdict> {
  const books = await readBooks(world, purchase);
  const wrong: string[] = [];
  const expect = (isRight: boolean, what: string) => void (isRight || wrong.push(what));
  const { faults } = await checkBooks(world.serviceBooks);
  expect(faults.length === 0, `the service's own check finds ${faults.length} faults`);
  const { attempts, order, cards } = books;
  const isOpen = ({ state }: AttemptRow) =>
    ["intent", "sent", "devalued", "unknown", "reversing"].includes(state);
  for (const { state, reason } of attempts.filter(isOpen)) wrong.push(`an attempt is ${state} (${reason})`);

  const isPersons = attempts.some(({ state }) => state === "needs_attention");
  const takenCents = sum(cards.map((card) => card.takenCents));
  const isCanceled = !order || order.status === "canceled";
  if (isPersons) judgePersons(books, expect);
  if (isPersons) return { outcome: wrong.length > 0 ? "open" : "person", wrong };
  if (takenCents > 0) judgePaid(books, purchase, expect);
  else judgeWhole(books, expect);
  if (takenCents === 0 && !isCanceled) {
    const refunded = sum(books.payments.map((payment) => payment.refundedCents));
    expect(refunded === purchase.totalCents, `the order stands, and ${refunded} cents of it were refunded`);
    expect(
      toCents(order.summary.refunded_total) === refunded,
      `the order shows ${order.summary.refunded_total} refunded`,
    );
  }
  const ended = takenCents > 0 ? "paid" : isCanceled ? "whole" : "refunded";
  return { outcome: wrong.length > 0 ? "open" : ended, wrong };
}

type Expect = (isRight: boolean, what: string) => void;

function judgePaid(books: Books, purchase: Purchase, expect: Expect): void {
  const { cards, order, attempts, payments, bankCents } = books;
  expect(
    order && order.status !== "canceled",
    `money is off a card, and the order is ${order?.status ?? "not there"}`,
  );
  if (!order) return;
  for (const { takenCents, partCents, taken, balanceCents, issuedCents } of cards) {
    expect(takenCents === partCents, `${takenCents} cents are off a card, not ${partCents}`);
    expect(taken === 1, `a card was charged ${taken} times`);
    expect(balanceCents === issuedCents - partCents, `a card holds ${balanceCents} of ${issuedCents} cents`);
  }
  const kept = attempts.filter(({ state }) => state === "committed" || state === "captured");
  const parts = cards.map((card) => card.partCents);
  expect(
    same(
      kept.map((a) => a.deducted_cents ?? 0),
      parts,
    ),
    `the journal holds ${list(kept.map((a) => a.deducted_cents))}`,
  );
  expect(
    kept.every((attempt) => attempt.order_id === order.id),
    "an attempt belongs to another order",
  );
  const gifts = payments.filter((payment) => payment.isGift);
  const others = payments.filter((payment) => !payment.isGift);
  const rest = purchase.remainderCents > 0 ? [purchase.remainderCents] : [];
  expect(
    same(
      gifts.map((payment) => payment.cents),
      parts,
    ),
    `Medusa's gift card payments are ${list(gifts.map((p) => p.cents))}`,
  );
  expect(
    same(
      others.map((payment) => payment.cents),
      rest,
    ),
    `Medusa's other payments are ${list(others.map((p) => p.cents))}`,
  );
  expect(same(bankCents, rest), `the bank holds ${list(bankCents)}, not ${list(rest)}`);
  const captured = sum(payments.map((payment) => payment.capturedCents));
  const journalCaptured = sum(kept.filter((a) => a.state === "captured").map((a) => a.amount_cents));
  const giftCaptured = sum(gifts.map((payment) => payment.capturedCents));
  expect(
    journalCaptured === giftCaptured,
    `captured: ${giftCaptured} in Medusa, ${journalCaptured} in the journal`,
  );
  expect(toCents(order.total) === purchase.totalCents, `the order's total is ${order.total}`);
  expect(
    toCents(order.summary.paid_total) === captured,
    `the order shows ${order.summary.paid_total} paid of ${captured} cents captured`,
  );
  const asked =
    captured === purchase.totalCents ? "captured" : captured > 0 ? "partially_captured" : "authorized";
  expect(order.payment_status === asked, `the order's payment is ${order.payment_status}, not ${asked}`);
}

function judgeWhole(books: Books, expect: Expect): void {
  for (const { balanceCents, issuedCents } of books.cards) {
    expect(balanceCents === issuedCents, `a card holds ${balanceCents} of ${issuedCents} cents`);
  }
  const kept = books.attempts.filter(({ state }) => state !== "reversed" && state !== "refused");
  expect(kept.length === 0, `the journal keeps ${list(kept.map((attempt) => attempt.state))}`);
  expect(books.bankCents.length === 0, `the bank holds ${list(books.bankCents)} for no order`);
  const live = books.payments.filter((payment) => payment.refundedCents < payment.cents);
  expect(live.length === 0, `Medusa keeps payments of ${list(live.map((payment) => payment.cents))}`);
  expect(!books.isCartCompleted || books.order, "the cart is completed, and there is no order");
}

/** What a person is asked must be in doubt, shown with the right balance, and the only thing that is open. */
function judgePersons(books: Books, expect: Expect): void {
  const asked = books.attempts.filter(({ state }) => state === "needs_attention");
  for (const { reason, balance_after_cents: shown, amount_cents: cents } of asked) {
    expect(reason === "outcome_unknown", `a person is asked because of ${reason}`);
    const isRight = books.cards.some(({ balanceCents }) => shown !== null && balanceCents === Number(shown));
    expect(isRight, `a person is shown a balance of ${shown}`);
    expect(
      books.cards.some((card) => card.takenCents === cents || card.takenCents === 0),
      "another amount is gone",
    );
  }
  const decided = books.attempts.filter(({ state }) => state === "committed" || state === "captured");
  expect(decided.length === 0, "an order stands on a charge in doubt");
  const off = books.cards.filter((card) => card.takenCents > 0).length;
  expect(off <= asked.length, `${off} cards are charged, and a person is asked about ${asked.length}`);
  expect(books.bankCents.length === 0, `the bank holds ${list(books.bankCents)} for no order`);
  expect(!books.order || books.order.status === "canceled", "there is an order");
}

async function readBooks(world: World, { cartId, cards }: Purchase): Promise<Books> {
  const { rows: ledger } = await world.serviceBooks.query(
    `select c.id::int, c.balance_cents::int as balance, coalesce(sum(-l.amount_cents), 0)::int as taken, count(l.id)::int as times
     from cards c left join ledger l on l.card_id = c.id and l.kind = 'devalue'
       and not exists (select 1 from ledger r where r.reverses = l.id)
     where c.id = any($1) group by c.id`,
    [cards.map((card) => card.id)],
  );
  const { rows: attempts } = await world.shopBooks.query(
    "select * from giftcard_attempt where cart_id = $1",
    [cartId],
  );
  const { rows: carts } = await world.shopBooks.query("select completed_at from cart where id = $1", [
    cartId,
  ]);
  const { rows: payments } = await world.shopBooks.query(
    `select p.provider_id, round(p.amount * 100)::int as cents,
       (select coalesce(round(sum(amount) * 100), 0)::int from capture where payment_id = p.id and deleted_at is null) as captured,
       (select coalesce(round(sum(amount) * 100), 0)::int from refund where payment_id = p.id and deleted_at is null) as refunded
     from payment p join cart_payment_collection link on link.payment_collection_id = p.payment_collection_id
     where link.cart_id = $1 and p.canceled_at is null and p.deleted_at is null`,
    [cartId],
  );
  return {
    cards: cards.map(({ id, issuedCents, partCents }) => {
      const row = ledger.find((found) => found.id === id);
      return { issuedCents, partCents, balanceCents: row.balance, takenCents: row.taken, taken: row.times };
    }),
    attempts,
    order: await orderOf(world, cartId),
    isCartCompleted: carts[0]?.completed_at != null,
    payments: payments.map((row) => ({
      isGift: row.provider_id === "pp_giftcard_giftcard",
      cents: row.cents,
      capturedCents: row.captured,
      refundedCents: row.refunded,
    })),
    bankCents: world.bank.heldCents(cartId),
  };
}

const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0);
const list = (values: readonly unknown[]) => `[${values.join(", ")}]`;
const toCents = (major: number) => Math.round(major * 100);
const same = (some: readonly number[], others: readonly number[]) =>
  list([...some].sort((a, b) => a - b)) === list([...others].sort((a, b) => a - b));
