import assert from "node:assert/strict";
import { randomBytes, randomUUID } from "node:crypto";
import { cents, Secret } from "@giftcard-pay/client";
import { createSealer } from "../src/sealing/seal.js";
import type { Charge } from "../src/store/charge.js";
import type { Journal } from "../src/store/journal.js";

export const MINUTE_MS = 60_000;
/** The default limits of a cart. */
export const limits = { quoteLifeMs: MINUTE_MS, maxCards: 5 };
/** The sealing keys of the cases, the older first. */
const keys = [1, 2].map((n) => ({ id: `key-${n}`, key: randomBytes(32).toString("base64") }));
export const [firstKey, secondKey] = keys as [(typeof keys)[0], (typeof keys)[0]];
const card = { cardNumber: new Secret("1234567890123456789"), pin: new Secret("000000") };

/** A requirement of a store. */
export interface ConformanceCase {
  readonly name: string;
  /** Tests it. Throws an AssertionError if the store doesn't fulfill it. */
  readonly run: () => Promise<void>;
}

/** The functions for cases about a journal. */
export interface Kit extends Awaited<ReturnType<typeof createKit>> {}

/** Adds a case: the requirement, and its test. */
export type Must = (name: string, run: (kit: Kit) => Promise<void>) => void;

/** Makes functions that add tenders and charges to the tested journal, as the engine does. */
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
      expiryDate: "2027-05-31",
      sealedCard,
    };
    await journal.addQuote(tender, lifeMs);
    return tender;
  }

  async function applied(options: { lifeMs?: number; cartId?: string; fingerprint?: string } = {}) {
    const tender = await quote(options.cartId ?? newId("cart"), options);
    assert.equal(await journal.applyQuote(tender.cartId, tender.id, limits), "applied");
    return tender;
  }

  /** Begins a payment with a charge for each amount. */
  async function beginPayment(
    tender: { id: string; cartId: string },
    owner: string,
    amounts: readonly number[],
    { externalId = newId("external"), leaseMs = MINUTE_MS, orderId = undefined as string | undefined } = {},
  ): Promise<Charge[]> {
    const charges = amounts.map(async (amountCents, index) => {
      const reference = newId("gc");
      const sealedCard = await sealer.sealChargeCard(card, reference);
      const pieces = amounts.length > 1 ? [{ line: "ticket", unit: index + 1, cents: amountCents }] : undefined;
      return { reference, amountCents: cents(amountCents), sealedCard, pieces };
    });
    const place = { environment: "sandbox", baseUrl: "https://cards.example", companyId: 1 };
    const ids = { tenderId: tender.id, cartId: tender.cartId, externalId, orderId };
    return journal.begin({ ...ids, ...place, charges: await Promise.all(charges) }, { owner, forMs: leaseMs });
  }

  async function begin(
    tender: { id: string; cartId: string },
    owner: string,
    externalId?: string,
    leaseMs?: number,
    orderId?: string,
  ): Promise<Charge | null> {
    const ids = { ...(externalId && { externalId }), ...(leaseMs && { leaseMs }), orderId };
    return (await beginPayment(tender, owner, [1000], ids))[0] ?? null;
  }

  async function begun(owner: string, leaseMs?: number, orderId?: string): Promise<Charge> {
    const charge = await begin(await applied(), owner, undefined, leaseMs, orderId);
    assert.ok(charge);
    return charge;
  }

  /** Returns the fields that a devalue's response sets. */
  async function taken(reference: string, deductedCents = 1000) {
    const sealedToken = await sealer.sealToken(new Secret("token"), reference);
    return { deductedCents: cents(deductedCents), sealedToken, sealedCard: null } as const;
  }

  async function sent(owner: string, tender?: { id: string; cartId: string }): Promise<Charge> {
    const charge = await begin(tender ?? (await applied()), owner);
    assert.ok(charge);
    await journal.move(charge.reference, { from: ["intent"], to: "sent", owner });
    return charge;
  }

  /** Devalues the charges of a payment, the last one by less than its amount. */
  async function devalue(charges: readonly Charge[], lessCents = 0): Promise<void> {
    for (const [index, { reference, amountCents }] of charges.entries()) {
      await journal.move(reference, { from: ["intent"], to: "sent" });
      const less = index === charges.length - 1 ? lessCents : 0;
      const to = less > 0 ? "reversing" : "devalued";
      await journal.move(reference, { from: ["sent"], to, ...(await taken(reference, amountCents - less)) });
    }
  }

  async function charged(owner: string, tender?: { id: string; cartId: string }): Promise<Charge> {
    const { reference } = await sent(owner, tender);
    const change = { from: ["sent"], to: "devalued", owner, ...(await taken(reference)) } as const;
    const charge = await journal.move(reference, change);
    assert.ok(charge);
    return charge;
  }

  return { journal, newId, quote, applied, begin, beginPayment, begun, taken, sent, devalue, charged };
}
