import { randomUUID } from "node:crypto";
import { GiftcardError, Secret } from "@giftcard-pay/client";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { createSealer, type Engine, LEAVE } from "../src/plugin.js";
import type { Charge, ChargeState } from "../src/store/index.js";
import { withRival } from "./rival.js";
import { beginCharge, beginOne, letLeasesRunOut, newCart, type Shop, sealingKeys, startShop } from "./shop.js";

let shop: Shop;
beforeAll(async () => {
  shop = await startShop();
});
beforeEach(async () => {
  shop.proxy.clear();
  await letLeasesRunOut(shop.pool);
  await shop.engine().recover();
});
afterAll(() => shop.stop());

const refusal = (code: string) => expect.objectContaining({ name: "CheckoutError", code });
const read = ({ reference }: Charge) => shop.journal.charge(reference);
const devaluesOf = ({ reference }: Charge) =>
  shop.proxy.seen.filter((c) => c.operation === "devalue" && c.idempotencyKey === reference).length;

/** Starts a process that another one overtakes, and keeps what it announces. */
async function newProcess(options: Parameters<Shop["engine"]>[0] = {}) {
  const { part: journal, before, isOver } = withRival(shop.journal);
  const told: ChargeState[] = [];
  const failures: unknown[] = [];
  const engine = shop.engine({
    journal,
    onChange: ({ state }) => told.push(state),
    onFailure: (failure) => failures.push(failure),
    ...options,
  });
  /** Acts right before this process moves the charge to a state. */
  const beforeIt = (to: ChargeState, act: () => unknown) => before("move", act, (_, move) => move.to === to);
  return { engine, before, beforeIt, isOver, told, failures };
}

/** Makes a charge in a certain state. */
async function takeCharge(engine: Engine = shop.engine()) {
  const card = await shop.card(7500);
  const cart = newCart(2000);
  const charge = await beginCharge(engine, cart, card);
  return { card, cart, charge };
}
const devalued = async (engine: Engine, { reference }: Charge) => void (await engine.devalue(reference));
async function unknown(engine: Engine, { reference }: Charge, fault: "cut-after" | "cut-before") {
  shop.proxy.set("devalue", fault, 1);
  shop.proxy.set("canceldevalue", "cut-before");
  await expect(engine.devalue(reference)).rejects.toEqual(refusal("outcome_unknown"));
  shop.proxy.clear();
}
async function reversing(engine: Engine, charge: Charge) {
  await devalued(engine, charge);
  shop.proxy.set("canceldevalue", "cut-before");
  await engine.reverse(charge.reference, "order_canceled");
  shop.proxy.clear();
}

/** Recovers a charge in another process. */
async function recoverElsewhere() {
  await letLeasesRunOut(shop.pool);
  await shop.engine().recover();
}

interface Race {
  /** The state of the charge. */
  given(engine: Engine, charge: Charge): Promise<void>;
  /** The fault of this process. */
  fault?: () => void;
  options?: Parameters<Shop["engine"]>[0];
  orderOf?: () => Promise<string>;
  /** The state that this process is about to write when the other one has decided. */
  to: ChargeState;
  /** The action of the other process. Default: it recovers. */
  rival?: (charge: Charge) => unknown;
  stands: ChargeState;
  /** The final balance of the card, of 75.00. */
  leftCents?: number;
}

const sealed = async ({ reference }: Charge, token: string) => {
  const text = await createSealer({ keys: sealingKeys }).sealToken(new Secret(token), reference);
  await shop.pool.query("update giftcard_charge set sealed_token = $1 where reference = $2", [text, reference]);
};

const races: Record<string, Race> = {
  "calls an intent never sent": { given: async () => {}, to: "refused", stands: "refused" },
  "gives a paid order's charge to it": {
    given: devalued,
    orderOf: async () => "order_1",
    to: "committed",
    rival: ({ reference }) => shop.engine().reverse(reference, "by_hand"),
    stands: "reversed",
  },
  "reverses what no order came to": { given: devalued, to: "reversing", stands: "reversed" },
  "writes that nothing was done": {
    given: (engine, charge) => unknown(engine, charge, "cut-before"),
    to: "refused",
    stands: "refused",
  },
  "writes that what was done is reversed": {
    given: (engine, charge) => unknown(engine, charge, "cut-after"),
    to: "reversed",
    stands: "reversed",
  },
  "puts off what it can't ask about": {
    given: (engine, charge) => unknown(engine, charge, "cut-after"),
    fault: () => shop.proxy.set("canceldevalue", "cut-before"),
    to: "unknown",
    stands: "reversed",
  },
  "leaves an unknown outcome of another service to a person": {
    given: (engine, charge) => unknown(engine, charge, "cut-after"),
    options: { environment: "live" },
    to: "needs_attention",
    stands: "reversed",
  },
  "leaves a reversal of another service to a person": {
    given: reversing,
    options: { environment: "live" },
    to: "needs_attention",
    stands: "reversed",
  },
  "leaves an unknown outcome to a person": {
    given: async (engine, charge) => {
      shop.proxy.withoutExtension(true);
      shop.proxy.set("devalue", "cut-after", 1);
      shop.proxy.set("canceldevalue", "cut-before", 1);
      await expect(engine.devalue(charge.reference)).rejects.toEqual(refusal("outcome_unknown"));
    },
    to: "needs_attention",
    rival: async () => {
      await letLeasesRunOut(shop.pool);
      shop.proxy.withoutExtension(true);
      await shop.engine().recover();
    },
    stands: "needs_attention",
    leftCents: 5500,
  },
  "writes that a reversal is done": { given: reversing, to: "reversed", stands: "reversed" },
  "writes that a reversal was done before": {
    given: async (engine, charge) => {
      await devalued(engine, charge);
      shop.proxy.set("canceldevalue", "cut-after", 1);
      await engine.reverse(charge.reference, "order_canceled");
    },
    to: "reversed",
    stands: "reversed",
  },
  "leaves a refund that differs to a person": {
    given: async (engine, charge) => {
      await reversing(engine, charge);
      await shop.pool.query(
        "update giftcard_charge set amount_cents = 2100, deducted_cents = 2100 where reference = $1",
        [charge.reference],
      );
    },
    to: "needs_attention",
    stands: "reversed",
  },
  "leaves a token that the service doesn't know to a person": {
    given: async (engine, charge) => {
      await reversing(engine, charge);
      await sealed(charge, "not-a-token-of-the-service");
    },
    to: "needs_attention",
    stands: "needs_attention",
    leftCents: 5500,
  },
  "leaves a broken seal to a person": {
    given: async (engine, charge) => {
      await reversing(engine, charge);
      await shop.pool.query("update giftcard_charge set sealed_token = 'torn' where reference = $1", [
        charge.reference,
      ]);
    },
    to: "needs_attention",
    stands: "needs_attention",
    leftCents: 5500,
  },
};

describe("a recovery that another process overtakes when it", () => {
  for (const [what, race] of Object.entries(races)) {
    it(`${what}, returns the current state, and does nothing more`, async () => {
      const { given, fault, options, orderOf, to, rival = recoverElsewhere, stands, leftCents } = race;
      const first = shop.engine();
      const { card, charge } = await takeCharge(first);
      await given(first, charge);
      const late = await newProcess(options);
      late.beforeIt(to, async () => {
        shop.proxy.clear();
        await rival(charge);
      });
      await letLeasesRunOut(shop.pool);
      fault?.();
      const ended = await late.engine.recover({ orderOf });
      expect(late.isOver()).toBe(true);
      expect(ended).toEqual([await read(charge)]);
      expect(ended).toMatchObject([{ reference: charge.reference, state: stands }]);
      expect(late.told).not.toContain(to);
      expect(late.failures.filter((failure) => !(failure instanceof GiftcardError))).toEqual([]);
      expect(await card.balanceCents()).toBe(leftCents ?? 7500);
    });
  }
});

describe("a recovery that a completion overtakes right before it claims the charge", () => {
  /** Recovers a charge. The completion acts before the claim, and from then on `orderOf` returns this answer. */
  async function recover(charge: Charge, answer: string | typeof LEAVE, act: () => unknown = () => {}) {
    const late = await newProcess();
    let found: string | typeof LEAVE | null = null;
    late.before("claim", async () => {
      await act();
      found = answer;
    });
    await letLeasesRunOut(shop.pool);
    const ended = await late.engine.recover({ orderOf: async () => found });
    expect([late.isOver(), late.failures]).toEqual([true, []]);
    return { ended, now: await read(charge) };
  }

  it("commits the charge if its order is placed", async () => {
    const completion = shop.engine();
    const { card, charge } = await takeCharge(completion);
    await devalued(completion, charge);
    const { now } = await recover(charge, "order_1");
    expect(now).toMatchObject({ state: "committed", orderId: "order_1" });
    expect(await card.balanceCents()).toBe(5500);
    expect(devaluesOf(charge)).toBe(1);
  });

  it("asks for the order of a charge that takes its money only then", async () => {
    const completion = shop.engine();
    const { card, charge } = await takeCharge(completion);
    const { now } = await recover(charge, "order_1", async () => {
      await devalued(completion, charge);
      await letLeasesRunOut(shop.pool);
    });
    expect(now).toMatchObject({ state: "committed", orderId: "order_1" });
    expect(await card.balanceCents()).toBe(5500);
  });

  it("releases the charge if another part decides about it", async () => {
    const completion = shop.engine();
    const { card, charge } = await takeCharge(completion);
    await devalued(completion, charge);
    const { ended, now } = await recover(charge, LEAVE);
    expect(ended).toEqual([]);
    expect(now).toMatchObject({ state: "devalued", leaseOwner: null });
    expect(await card.balanceCents()).toBe(5500);
  });
});

describe("a completion that another process overtakes", () => {
  it("when it begins, charges nothing", async () => {
    const late = await newProcess();
    const cart = newCart(2000);
    await late.engine.apply(cart, await shop.card(7500));
    const [part] = (await late.engine.plan(cart)).parts;
    if (!part) throw new Error("nothing is planned");
    const begin = (engine: Engine, owner: string) => beginOne(engine, cart, part, `session_${randomUUID()}`, owner);
    late.before("begin", () => begin(shop.engine(), "other"));
    await expect(begin(late.engine, "completion")).rejects.toEqual(refusal("payment_in_progress"));
    expect(late.told).toEqual([]);
    expect(await shop.journal.chargesOfCart(cart.id)).toMatchObject([{ leaseOwner: "other" }]);
  });

  it("when it sends, sends nothing", async () => {
    const late = await newProcess();
    const { charge, card } = await takeCharge(late.engine);
    late.beforeIt("sent", recoverElsewhere);
    await expect(late.engine.devalue(charge.reference)).rejects.toEqual(refusal("payment_in_progress"));
    expect(devaluesOf(charge)).toBe(0);
    expect(await read(charge)).toMatchObject({ state: "refused", reason: "not_sent" });
    expect(await card.balanceCents()).toBe(7500);
  });

  it("when its response arrives, keeps the other one's reversal", async () => {
    const late = await newProcess();
    const { charge, card } = await takeCharge(late.engine);
    late.beforeIt("devalued", recoverElsewhere);
    await expect(late.engine.devalue(charge.reference)).rejects.toEqual(refusal("payment_in_progress"));
    expect(await read(charge)).toMatchObject({ state: "reversed", deductedCents: 2000 });
    expect(await card.balanceCents()).toBe(7500);
  });

  it("when its response is lost, throws outcome_unknown", async () => {
    const late = await newProcess();
    const { charge, card } = await takeCharge(late.engine);
    shop.proxy.set("devalue", "cut-after", 1);
    late.beforeIt("unknown", recoverElsewhere);
    await expect(late.engine.devalue(charge.reference)).rejects.toEqual(refusal("outcome_unknown"));
    expect(late.failures).toMatchObject([{ code: "connection_lost" }]);
    expect((await read(charge))?.state).toBe("reversed");
    expect(await card.balanceCents()).toBe(7500);
  });

  it("when it commits, commits nothing", async () => {
    const late = await newProcess();
    const { charge, card } = await takeCharge(late.engine);
    await late.engine.devalue(charge.reference);
    late.beforeIt("committed", () => shop.engine().reverse(charge.reference, "by_hand"));
    await expect(late.engine.commit(charge.reference, "completion", "order_1")).rejects.toEqual(
      refusal("payment_in_progress"),
    );
    expect(await read(charge)).toMatchObject({ state: "reversed", reason: "by_hand", orderId: null });
    expect(await card.balanceCents()).toBe(7500);
  });

  it("when it reverses, returns the reversed charge", async () => {
    for (const to of ["reversing", "reversed"] as const) {
      const late = await newProcess();
      const { charge, card } = await takeCharge(late.engine);
      await late.engine.devalue(charge.reference);
      late.told.splice(0);
      late.beforeIt(to, async () => {
        await shop.engine().reverse(charge.reference, "by_hand");
      });
      const reversed = await late.engine.reverse(charge.reference, "order_canceled");
      expect(reversed).toMatchObject({
        ...{ state: "reversed", reason: to === "reversing" ? "by_hand" : "order_canceled" },
      });
      expect(late.told).toEqual(to === "reversing" ? [] : ["reversing"]);
      expect(await card.balanceCents()).toBe(7500);
    }
  });

  it("when it voids, keeps the card on the cart as the other one left it", async () => {
    const late = await newProcess();
    const { charge, cart, card } = await takeCharge(late.engine);
    await late.engine.devalue(charge.reference);
    await late.engine.commit(charge.reference, "completion", "order_1");
    late.beforeIt("reversing", () => shop.engine().reverse(charge.reference, "by_hand"));
    expect(await late.engine.void(charge.reference, { orderIsGone: true })).toMatchObject({
      ...{ state: "reversed", reason: "by_hand", orderId: null },
    });
    expect((await late.engine.summary(cart)).cards).toMatchObject([{ state: "applied" }]);
    expect(await card.balanceCents()).toBe(7500);
  });
});
