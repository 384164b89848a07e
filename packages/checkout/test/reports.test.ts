import { describe, expect, it } from "vitest";
import { groupsOf, judge, type ShopPayment } from "../src/operator/charge-groups.js";
import type { BookedCharge } from "../src/operator/movements.js";
import { dayOf, daysOfMonth, isDay, momentsOf } from "../src/operator/period.js";
import { type Reconciliation, reconciliationText } from "../src/operator/reconciliation.js";
import { CardFigures } from "../src/operator/service-figures.js";
import { type ReportError, type ReportedCard, readServiceReport } from "../src/operator/service-report.js";
import { makeStatement, statementCsv, statementText } from "../src/operator/statement.js";

type Given = Partial<Record<keyof BookedCharge, unknown>>;

/** More than the maximum number of arguments of a call. */
const MANY = 300_000;

let made = 0;
function charged(given: Given = {}): BookedCharge {
  made += 1;
  const sentAt = new Date("2026-03-10T12:00:00Z");
  return {
    reference: `gc_${made}`,
    externalId: `session_${made}`,
    orderId: `order_${made}`,
    lastFour: "1234",
    state: "captured",
    amountCents: 5000,
    deductedCents: 5000,
    ...{ createdAt: sentAt, sentAt, devaluedAt: sentAt, reversedAt: null, leaseUntil: null },
    ...{ reason: null, refundId: null },
    ...given,
  } as BookedCharge;
}

const reversed = (given: Given = {}) =>
  charged({ state: "reversed", reversedAt: new Date("2026-03-11T09:00:00Z"), ...given });

function payment({ externalId, orderId, amountCents }: BookedCharge, given: Partial<ShopPayment> = {}) {
  const isCanceled = false;
  return {
    ...{ id: `pay_${externalId}`, externalId, orderId, amountCents },
    ...{ capturedCents: amountCents, refundedCents: 0, isCanceled },
    ...given,
  };
}

const march = daysOfMonth("2026-03");

interface Books {
  readonly charges: BookedCharge[];
  readonly payments: ShopPayment[];
  readonly report?: ReportedCard[];
  readonly asOf?: Date;
}

/** Compares the charges and payments of March. */
function reconcile({ charges, payments, report, asOf = new Date() }: Books): Reconciliation {
  const judged = groupsOf(charges, payments).map((group) => judge(group, { asOf }));
  const [journal, service] = [new CardFigures(), new CardFigures()];
  const moments = momentsOf(march);
  for (const charge of charges) journal.addCharge(charge, moments);
  for (const card of report ?? []) service.addCard(card);
  return {
    ...{ ...march, charges: charges.length, payments: payments.length, cards: report ? service.cards : null },
    moving: judged.filter((found) => found === null).length,
    differences: [...judged.flatMap((found) => found ?? []), ...(report ? journal.differencesTo(service) : [])],
  };
}

describe("days", () => {
  it("begin at midnight of the time zone, even if its offset changes", () => {
    const [day, next] = [momentsOf({ from: "2026-03-29", to: "2026-03-29" }), momentsOf(march)];
    expect(day.from.toISOString()).toBe("2026-03-28T23:00:00.000Z");
    expect(day.to.toISOString()).toBe("2026-03-29T22:00:00.000Z");
    expect(next.to.toISOString()).toBe("2026-03-31T22:00:00.000Z");
    expect(dayOf(new Date("2026-10-24T22:00:00Z"))).toBe("2026-10-25");
    expect(dayOf(new Date("2026-10-24T21:59:59.999Z"))).toBe("2026-10-24");
    expect(dayOf(new Date("2026-10-24T22:00:00Z"), "America/New_York")).toBe("2026-10-24");
  });

  it("have to be valid", () => {
    expect(daysOfMonth("2028-02")).toEqual({ from: "2028-02-01", to: "2028-02-29" });
    expect(["2026-02-29", "2026-2-1", "today", ""].filter(isDay)).toEqual([]);
    expect(() => daysOfMonth("2026-13")).toThrow(RangeError);
    expect(() => momentsOf({ from: "2026-02-02", to: "2026-02-01" })).toThrow("before the first");
  });
});

describe("a statement", () => {
  const charges = [
    charged({ orderId: "order_a" }),
    charged({ orderId: "order_a", deductedCents: 998, lastFour: "9999" }),
    reversed({ orderId: "order_b" }),
    charged({ state: "refused", deductedCents: null, devaluedAt: null }),
    charged({ state: "unknown", deductedCents: null, devaluedAt: null }),
    charged({ state: "taken", orderId: null, deductedCents: null, amountCents: 700, devaluedAt: null }),
    reversed({
      orderId: "order_c",
      reason: "refunded",
      refundId: "ref_1",
      devaluedAt: new Date("2026-02-01T12:00:00Z"),
    }),
    charged({ devaluedAt: new Date("2026-03-31T22:00:00Z") }),
  ];

  it("sums charged, canceled and refunded amounts by day and order", () => {
    const statement = makeStatement(charges, march);
    expect(statement.lines).toEqual([
      { day: "2026-03-10", orderId: null, chargedCents: 700, canceledCents: 0, refundedCents: 0, grossCents: 700 },
      {
        day: "2026-03-10",
        orderId: "order_a",
        chargedCents: 5998,
        canceledCents: 0,
        refundedCents: 0,
        grossCents: 5998,
      },
      {
        day: "2026-03-10",
        orderId: "order_b",
        chargedCents: 5000,
        canceledCents: 0,
        refundedCents: 0,
        grossCents: 5000,
      },
      {
        day: "2026-03-11",
        orderId: "order_b",
        chargedCents: 0,
        canceledCents: 5000,
        refundedCents: 0,
        grossCents: -5000,
      },
      {
        day: "2026-03-11",
        orderId: "order_c",
        chargedCents: 0,
        canceledCents: 0,
        refundedCents: 5000,
        grossCents: -5000,
      },
    ]);
    expect(statement).toMatchObject({
      ...{ from: "2026-03-01", to: "2026-03-31", chargedCents: 11_698, canceledCents: 5000, refundedCents: 5000 },
      grossCents: 1698,
    });
  });

  it("counts a refund as canceled if its order was canceled", () => {
    const statement = makeStatement(charges, march, new Set(["ref_1"]));
    expect(statement).toMatchObject({ canceledCents: 10_000, refundedCents: 0, grossCents: 1698 });
  });

  it("is formatted as CSV without formulas", () => {
    const csv = statementCsv(makeStatement(charges.slice(0, 3), march), (id) => (id === "order_a" ? "=1+1" : id));
    expect(csv.split("\r\n")).toEqual([
      "day,order,charged,canceled,refunded,gross",
      `2026-03-10,"'=1+1",59.98,0.00,0.00,59.98`,
      '2026-03-10,"order_b",50.00,0.00,0.00,50.00',
      '2026-03-11,"order_b",0.00,50.00,0.00,-50.00',
      '"total",,109.98,50.00,0.00,59.98',
      "",
    ]);
  });
});

describe("a reconciliation", () => {
  const differences = (charges: BookedCharge[], payments: ShopPayment[], more: Partial<Books> = {}) =>
    reconcile({ charges, payments, ...more }).differences;

  it("finds nothing if both sides agree", () => {
    const kept = charged();
    const open = charged({ state: "committed" });
    const given = reversed();
    const refunded = reversed();
    const refused = charged({ state: "refused", deductedCents: null });
    expect(
      differences(
        [kept, open, given, refunded, refused, reversed()],
        [
          payment(kept),
          payment(open, { capturedCents: 0 }),
          payment(given, { isCanceled: true }),
          payment(refunded, { refundedCents: 5000 }),
        ],
      ),
    ).toEqual([]);
  });

  it("has each difference with both sides", () => {
    const owed = charged({ state: "reversing" });
    const lost = charged();
    const open = charged({ state: "needs_attention", deductedCents: null });
    const final = charged({ state: "committed" });
    const foreign = charged();
    const found = differences(
      [owed, lost, open, final],
      [payment(owed, { isCanceled: true }), payment(final), payment(foreign)],
    );
    expect(found).toMatchObject([
      {
        kind: "held",
        reference: owed.reference,
        journal: { says: "reversing", cents: 5000 },
        other: { who: "payments", says: expect.stringContaining("canceled"), cents: 0 },
      },
      { kind: "payment_missing", journal: { cents: 5000 }, other: { says: "nothing", cents: null } },
      { kind: "undecided", journal: { says: "needs_attention", cents: null } },
      {
        kind: "captured",
        journal: { says: "committed" },
        other: { says: expect.stringContaining("captured") },
      },
      { kind: "charge_missing", journal: { says: "nothing" }, other: { cents: 5000 } },
    ]);
  });

  it("ignores charges in progress", () => {
    const sentAt = new Date();
    expect(differences([charged({ state: "sent", deductedCents: null, sentAt })], [])).toEqual([]);
    expect(differences([charged({ state: "devalued", sentAt })], [])).toEqual([]);
    expect(differences([charged({ state: "devalued" })], [])).toHaveLength(1);
  });

  it("sums an order's charges if the shop has one payment for them, and doesn't compare captures", () => {
    const [first, second, failed] = [
      charged({ orderId: "order_x" }),
      charged({ orderId: "order_x", state: "committed", amountCents: 1000, deductedCents: 1000 }),
      reversed({ orderId: "order_x" }),
    ];
    const paid = { orderId: "order_x", amountCents: 6000 };
    const all = [first, second, failed];
    expect(differences(all, [paid])).toEqual([]);
    expect(
      differences(all, [
        { ...paid, amountCents: 4000 },
        { ...paid, amountCents: 2000 },
      ]),
    ).toEqual([]);
    expect(differences(all, [{ ...paid, refundedCents: 1000 }])).toEqual([
      {
        ...{ kind: "held", reference: null, orderId: "order_x", lastFour: null },
        journal: { says: "captured, committed", cents: 6000, states: ["captured", "committed"] },
        other: {
          ...{ who: "payments", says: "order_x partly refunded", cents: 5000 },
          payments: [{ name: "order_x", state: "partly_refunded" }],
        },
      },
    ]);
    expect(differences([reversed({ orderId: "order_y" })], [{ orderId: "order_y", amountCents: 5000 }])).toEqual([
      expect.objectContaining({
        kind: "held",
        reference: expect.any(String),
        journal: { says: "reversed", cents: 0, states: ["reversed"] },
      }),
    ]);
  });

  it("sums several payments of a charge", () => {
    const charge = charged({ state: "committed" });
    const half = payment(charge, { capturedCents: 0, amountCents: 2500 });
    expect(differences([charge], [half, { ...half, id: "pay_2" }])).toEqual([]);
    expect(differences([charge], [half])).toMatchObject([{ kind: "held", other: { cents: 2500 } }]);
  });

  it("refuses payments that aren't whole cents, or refer to nothing", () => {
    const wrong = [{ amountCents: 0.5 }, { amountCents: Number.NaN }, { amountCents: -1 }, { refundedCents: 1.5 }];
    for (const amounts of [...wrong, { amountCents: "5000" as never }])
      expect(() => differences([], [{ orderId: "order_x", amountCents: 1, ...amounts }])).toThrow(TypeError);
    expect(() => differences([], [{ orderId: null, amountCents: 1 }])).toThrow(/neither/);
  });

  it("counts a leased charge as moving, until its lease has run out", () => {
    const asOf = new Date("2026-03-20T12:00:00Z");
    const held = charged({ state: "reversing", leaseUntil: new Date(asOf.getTime() + 1000) });
    const canceled = payment(held, { isCanceled: true });
    const found = reconcile({ charges: [held], payments: [canceled], asOf });
    expect(found).toMatchObject({ moving: 1, differences: [] });
    const later = new Date(asOf.getTime() + 1001);
    expect(reconcile({ charges: [held], payments: [canceled], asOf: later })).toMatchObject({
      moving: 0,
      differences: [{ kind: "held" }],
    });
    const agreed = reconcile({
      charges: [held],
      payments: [payment(held, { capturedCents: 0 })],
      asOf,
    });
    expect(agreed).toMatchObject({ moving: 0, differences: [] });
  });

  it("doesn't count a charge of an order as moving, even if it is leased", () => {
    const asOf = new Date("2026-03-20T12:00:00Z");
    const held = charged({ state: "captured", leaseUntil: new Date(asOf.getTime() + 1000) });
    const canceled = payment(held, { isCanceled: true });
    expect(reconcile({ charges: [held], payments: [canceled], asOf })).toMatchObject({
      moving: 0,
      differences: [{ kind: "held" }],
    });
  });

  it("is formatted with a line for each difference", () => {
    const lost = charged({ orderId: "order_a" });
    const lines = reconciliationText(reconcile({ charges: [lost], payments: [] }), () => "#12").split("\n");
    expect(lines).toEqual([
      `payment_missing  …1234  #12  ${lost.reference}  journal: 50.00 (captured)  payments: ? (nothing)`,
      "2026-03-01 to 2026-03-31: 1 charges, 0 payments; 1 difference",
      "",
    ]);
    expect(reconciliationText(reconcile({ charges: [], payments: [] }))).toBe(
      "2026-03-01 to 2026-03-31: 0 charges, 0 payments; no difference\n",
    );
  });

  it("is formatted for a long month, and so is its statement", { tags: "long" }, () => {
    const charges = Array.from({ length: MANY }, (_, index) => charged({ orderId: `o${index}` }));
    const lines = reconciliationText(reconcile({ charges, payments: [] }))
      .trimEnd()
      .split("\n");
    expect([lines.length, lines.at(-1)]).toEqual([
      MANY + 1,
      `2026-03-01 to 2026-03-31: ${MANY} charges, 0 payments; ${MANY} differences`,
    ]);
    expect(statementText(makeStatement(charges, march)).trimEnd().split("\n")).toHaveLength(MANY + 2);
  });

  it("compares each card with the service's report", () => {
    const charges = [charged(), charged({ lastFour: "5678" }), reversed({ lastFour: "5678" })];
    const payments = charges.map((a) => payment(a, { isCanceled: a.state === "reversed" }));
    const same = [
      { lastFour: "1234", devaluedCents: 5000, canceledCents: 0 },
      { lastFour: "5678", devaluedCents: 10_000, canceledCents: 5000 },
    ];
    expect(differences(charges, payments, { report: same })).toEqual([]);
    const report = [{ lastFour: "5678", devaluedCents: 10_000, canceledCents: 10_000 }];
    expect(differences(charges, payments, { report })).toMatchObject([
      { kind: "service", lastFour: "1234", journal: { cents: 5000 }, other: { who: "service", cents: 0 } },
      {
        ...{ kind: "service", lastFour: "5678" },
        journal: {
          ...{ says: "100.00 charged, 50.00 canceled", cents: 5000 },
          sums: { chargedCents: 10_000, canceledCents: 5000 },
        },
        other: {
          ...{ says: "100.00 charged, 100.00 canceled", cents: 0 },
          sums: { chargedCents: 10_000, canceledCents: 10_000 },
        },
      },
    ]);
  });
});

describe("the service's report", () => {
  const about = { ...march, companyId: 7 };
  const card = {
    company_id: 7,
    company: 'The "best", {Ltd}',
    last_four: "0042",
    devalued: 5000,
    canceled: 0,
  };
  const expected = [{ lastFour: "0042", devaluedCents: 5000, canceledCents: 0 }];
  const head = "company_id,company,card,last_four,devalues,devalued,cancels,canceled,outstanding,balance";
  const csv = `${head}\r\n7,"The ""best"", Ltd",3,"0042",1,5000,0,0,5000,2500\r\n8,"Other",4,"1111",1,1,0,0,1,1\r\n`;
  const frame = { companies: [{ devalued: 5000, cards: [{ devalued: 1 }] }], total: { devalued: 5000 } };
  const json = { ...march, cards: [card, { ...card, company_id: 8 }], ...frame };

  /** Reads a file in chunks of this length. */
  async function read(text: string, length: number) {
    async function* pieces() {
      for (let at = 0; at < text.length; at += length) yield text.slice(at, at + length);
    }
    const cards: ReportedCard[] = [];
    for await (const one of readServiceReport(length === 0 ? text : pieces(), about)) cards.push(one);
    return cards;
  }

  it.each([0, 1, 7, 1000])("is read as JSON and as CSV, for the company alone, in pieces of %d", async (length) => {
    expect(await read(JSON.stringify(json), length)).toEqual(expected);
    expect(await read(`\uFEFF \n${JSON.stringify(json, null, 2)}\n`, length)).toEqual(expected);
    expect(await read(JSON.stringify({ ...march, cards: [] }), length)).toEqual([]);
    expect(await read(csv, length)).toEqual(expected);
    expect(await read(`${csv}\n`, length)).toEqual(expected);
    expect(await read(`${head}\r\n`, length)).toEqual([]);
  });

  it.each([0, 1, 1000])(
    "is refused when it is about other days, or something else, in pieces of %d",
    async (length) => {
      const other = JSON.stringify({ from: "2026-02-01", to: "2026-02-28", cards: [] });
      await expect(read(other, length)).rejects.toThrow("about 2026-02-01 to 2026-02-28");
      const whole = JSON.stringify(json);
      for (const text of [
        ...["", "nothing", "{", '{"cards":1}', "a,b\r\n1,2", "company_id\n7\n", "[1]", "{}x"],
        ...[whole.slice(0, -1), whole.replace("5000", '"a"'), `{"cards":[1]}`, `${whole}${whole}`],
        ...[
          csv.replace('"Other"', "Other, Ltd"),
          csv.replace('"Other"', '"Other" Ltd'),
          csv.replace("5000,0", "5e3,0"),
        ],
        ...[csv.replace("5000,0", ",0"), csv.replace("2500\r\n8", "2500,99\r\n8"), csv.slice(0, csv.indexOf("4,") + 2)],
      ])
        await expect(read(text, length)).rejects.toMatchObject({ name: "ReportError" });
    },
  );

  it("states in its refusal what is wrong", async () => {
    const faultOf = (text: string) =>
      read(text, 0).then(
        () => null,
        ({ fault }: ReportError) => fault,
      );
    for (const text of ["", "nothing", "a,b\r\n1,2", '{"cards":1}'])
      expect(await faultOf(text), text).toEqual({ code: "not_a_report" });
    expect(await faultOf(JSON.stringify(json).slice(0, -1))).toEqual({ code: "broken" });
    expect(await faultOf(csv.replace('"Other"', "Other, Ltd"))).toEqual({ code: "broken", line: 3 });
    const days = { from: "2026-02-01", to: "2026-02-28" };
    expect(await faultOf(JSON.stringify({ ...days, cards: [] }))).toEqual({ code: "other_days", ...days });
  });

  it("is refused as JSON if it is too long", async () => {
    const endless = JSON.stringify({ ...march, cards: [{ ...card, company: "x".repeat(33 * 1024 * 1024) }] });
    await expect(read(endless, 1_000_000)).rejects.toThrow("Ask for it as CSV");
  });
});
