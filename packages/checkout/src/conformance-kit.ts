import assert from "node:assert/strict";
import { randomBytes, randomUUID } from "node:crypto";
import { cents, Secret } from "@giftcard-pay/client";
import type { Attempt, Journal } from "./journal.js";
import { createSealer } from "./seal.js";

const MINUTE_MS = 60_000;
/** What the cases seal with, the older first. */
const keys = [1, 2].map((n) => ({ id: `key-${n}`, key: randomBytes(32).toString("base64") }));
export const [firstKey, secondKey] = keys as [(typeof keys)[0], (typeof keys)[0]];
const card = { cardNumber: new Secret("1234567890123456789"), pin: new Secret("000000") };

/** What the cases about a journal work with. */
export interface Kit extends Awaited<ReturnType<typeof createKit>> {}

/** Makes tenders and attempts as a money flow does, in the journal to be tried. */
export function createKit(journal: Journal) {
  const sealer = createSealer({ keys: [firstKey] });
  const newId = (what: string) => `${what}_${randomUUID()}`;

  async function quote(cartId: string, { fingerprint = newId("fingerprint"), lifeMs = MINUTE_MS } = {}) {
    const sealedCard = await sealer.sealTenderCard(card, cartId, MINUTE_MS);
    const tender = {
      id: newId("tender"),
      cartId,
      lastFour: "6789",
      fingerprint,
      balanceCents: cents(7500),
      sealedCard,
    };
    await journal.addQuote(tender, lifeMs);
    return tender;
  }

  async function applied(options: { lifeMs?: number } = {}) {
    const tender = await quote(newId("cart"), options);
    assert.equal(await journal.applyQuote(tender.cartId, tender.id, MINUTE_MS), "applied");
    return tender;
  }

  async function begin(
    tender: { id: string; cartId: string },
    owner: string,
    externalId = newId("external"),
    leaseMs = MINUTE_MS,
    orderId?: string,
  ): Promise<Attempt | null> {
    const reference = newId("gc");
    const sealedCard = await sealer.sealAttemptCard(card, reference);
    const place = { environment: "sandbox", baseUrl: "https://cards.example", companyId: 1 };
    const ids = { reference, tenderId: tender.id, cartId: tender.cartId, externalId };
    return journal.begin(
      { ...ids, ...place, orderId, amountCents: cents(1000), sealedCard },
      { owner, forMs: leaseMs },
    );
  }

  async function begun(owner: string, leaseMs?: number, orderId?: string): Promise<Attempt> {
    const attempt = await begin(await applied(), owner, undefined, leaseMs, orderId);
    assert.ok(attempt);
    return attempt;
  }

  async function charged(owner: string, deductedCents = 1000): Promise<Attempt> {
    const { reference } = await begun(owner);
    await journal.move(reference, { from: ["intent"], to: "sent", owner });
    const sealedToken = await sealer.sealToken(new Secret("token"), reference);
    const taken = { deductedCents: cents(deductedCents), sealedToken, sealedCard: null } as const;
    const attempt = await journal.move(reference, { from: ["sent"], to: "devalued", owner, ...taken });
    assert.ok(attempt);
    return attempt;
  }

  return { journal, newId, quote, applied, begin, begun, charged };
}
