import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { cents, GiftcardError } from "@giftcard-pay/client";
import type { CardIssuer } from "../src/engine/card-issuer.js";
import type { ConformanceCase } from "./kit.js";

/** The issuer to test, and what a test needs beside it. */
export interface TestedIssuer {
  readonly issuer: CardIssuer;
  /** Issues a new card with this balance. */
  issueCard(balanceCents: number): Promise<{ cardNumber: string; pin: string }>;
  /** Blocks a card, so that it can't pay. */
  block(card: { cardNumber: string }): Promise<unknown>;
}

/**
 * Returns the cases that an issuer must pass before a checkout may charge its cards: amounts, single reversals, repetition by
 * the Idempotency-Key, resolving by it, and refusals. Each case issues its own cards.
 *
 * @param open returns the issuer to test
 */
export function issuerConformance(open: () => TestedIssuer | Promise<TestedIssuer>): ConformanceCase[] {
  const cases: ConformanceCase[] = [];
  const must = (name: string, run: (issuer: TestedIssuer) => Promise<void>) =>
    void cases.push({ name, run: async () => run(await open()) });
  const codeOf = (call: Promise<unknown>) =>
    call.then(
      () => "done",
      (error: unknown) => (error instanceof GiftcardError ? error.code : Promise.reject(error)),
    );
  const newKey = () => `conformance_${randomUUID()}`;

  must("deduct the smallest of amount, balance and the maximum", async ({ issuer, issueCard }) => {
    const most = issuer.maxDeductionCents;
    for (const [balance, asked, taken] of [
      [most + 2500, most + 2498, most],
      [1200, 7498, 1200],
      [7500, 1, 1],
    ] as const) {
      const card = await issueCard(balance);
      const done = await issuer.devalue({ ...card, amountCents: cents(asked), reference: newKey() });
      assert.deepEqual([done.deductedCents, done.remainderCents, done.replayed], [taken, asked - taken, false]);
      assert.equal((await issuer.balance(card)).balanceCents, balance - taken);
    }
  });

  must("reverse a deduction exactly once by its token", async ({ issuer, issueCard }) => {
    assert.match(issuer.currency, /^[A-Z]{3}$/);
    const card = await issueCard(7500);
    assert.equal((await issuer.balance(card)).currency.toUpperCase(), issuer.currency);
    const { cancelToken } = await issuer.devalue({ ...card, amountCents: cents(5000), reference: newKey() });
    assert.deepEqual(await issuer.cancelDevalue({ cancelToken }), { refundedCents: 5000, balanceCents: 7500 });
    assert.equal(await codeOf(issuer.cancelDevalue({ cancelToken })), "token_used");
    assert.equal(await codeOf(issuer.cancelDevalue({ cancelToken: randomUUID() })), "token_invalid");
    assert.equal((await issuer.balance(card)).balanceCents, 7500);
  });

  must("do a devalue once per key, and return its answer again", async ({ issuer, issueCard }) => {
    const card = await issueCard(7500);
    const call = { ...card, amountCents: cents(2000), reference: newKey() };
    const [first, second, third] = await Promise.all([1, 2, 3].map(() => issuer.devalue(call)));
    const tokens = [first, second, third].map((done) => done?.cancelToken.reveal());
    assert.equal(new Set(tokens).size, 1);
    assert.equal([first, second, third].filter((done) => done?.replayed).length, 2);
    assert.equal((await issuer.balance(card)).balanceCents, 5500);
    // The contract has one status for a reused key and for a wrong field.
    const reused = await codeOf(issuer.devalue({ ...call, amountCents: cents(1999) }));
    assert.ok(["idempotency_key_reused", "invalid_request"].includes(reused), reused);
    assert.equal((await issuer.balance(card)).balanceCents, 5500);
  });

  must("resolve a devalue by its key: reverse it, once", async ({ issuer, issueCard }) => {
    const card = await issueCard(7500);
    const reference = newKey();
    await issuer.devalue({ ...card, amountCents: cents(5000), reference });
    const end = { outcome: "reversed", refundedCents: 5000, balanceCents: 7500 };
    assert.deepEqual(await issuer.resolveDevalue(reference), end);
    assert.deepEqual(await issuer.resolveDevalue(reference), { outcome: "already_reversed" });
    assert.equal((await issuer.balance(card)).balanceCents, 7500);
  });

  must("close a key that carried no devalue, so that none can come later", async ({ issuer, issueCard }) => {
    const card = await issueCard(7500);
    const reference = newKey();
    for (let time = 0; time < 2; time++)
      assert.deepEqual(await issuer.resolveDevalue(reference), { outcome: "not_done" });
    assert.equal(await codeOf(issuer.devalue({ ...card, amountCents: cents(5000), reference })), "key_closed");
    assert.equal((await issuer.balance(card)).balanceCents, 7500);
  });

  must("refuse cards that can't pay, and keys of refused calls stay free", async ({ issuer, issueCard, block }) => {
    const card = await issueCard(1000);
    const call = { ...card, amountCents: cents(1000), reference: newKey() };
    const wrong = { ...card, pin: card.pin === "0000" ? "1111" : "0000" };
    assert.equal(
      await codeOf(issuer.devalue({ ...wrong, amountCents: cents(1), reference: newKey() })),
      "invalid_card",
    );
    assert.equal(await codeOf(issuer.balance({ ...card, cardNumber: "9999999999999999999" })), "invalid_card");
    await issuer.devalue(call);
    const again = { ...call, reference: newKey() };
    assert.equal(await codeOf(issuer.devalue(again)), "card_no_balance");
    await issuer.resolveDevalue(call.reference);
    assert.equal((await issuer.devalue(again)).deductedCents, 1000);
    const blocked = await issueCard(1000);
    await block(blocked);
    assert.equal(
      await codeOf(issuer.devalue({ ...blocked, amountCents: cents(1), reference: newKey() })),
      "card_blocked",
    );
  });

  must("lock a number after ten wrong PINs", async ({ issuer, issueCard }) => {
    const card = await issueCard(1000);
    const wrong = { ...card, pin: `${card.pin}0` };
    for (let time = 0; time < 10; time++) assert.equal(await codeOf(issuer.balance(wrong)), "invalid_card");
    assert.equal(await codeOf(issuer.balance(card)), "card_locked");
  });

  must("check access without a card", async ({ issuer }) => {
    await issuer.checkAccess();
  });

  return cases;
}
