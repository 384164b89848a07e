import { describe, expect, test } from "vitest";
import { type PaidBy, renderPaidBy } from "../src/reports/paid-by.js";

const paidBy: PaidBy = {
  ...{ orderId: "order_1", currency: "EUR", totalCents: 123456, dueCents: 0 },
  cards: [
    { lastFour: "3321", amountCents: 5000, refundedCents: 0 },
    { lastFour: "0007", amountCents: 1234, refundedCents: 34 },
  ],
  others: [{ providerId: "pp_stripe_stripe", amountCents: 117222, refundedCents: 0 }],
};

/** Intl separates amounts by different kinds of spaces. */
const lines = (text: string) => text.replace(/[\u00a0\u202f]/g, " ").split("\n");

describe("the block about an order's payments", () => {
  test.each([
    [
      "en" as const,
      ["Paid by", "Gift card ending in 3321: €50.00", "Other payment: €1,172.22"],
      "Gift card ending in 0007, Refunded: -€0.34",
    ],
    [
      "nl" as const,
      ["Betaald met", "Cadeaukaart eindigend op 3321: € 50,00", "Andere betaling: € 1.172,22"],
      "Cadeaukaart eindigend op 0007, Terugbetaald: € -0,34",
    ],
    [
      "de" as const,
      ["Bezahlt mit", "Geschenkkarte mit den Endziffern 3321: 50,00 €", "Andere Zahlung: 1.172,22 €"],
      "Geschenkkarte mit den Endziffern 0007, Erstattet: -0,34 €",
    ],
    [
      "fr" as const,
      ["Payé avec", "Carte cadeau se terminant par 3321: 50,00 €", "Autre paiement: 1 172,22 €"],
      "Carte cadeau se terminant par 0007, Remboursé: -0,34 €",
    ],
  ])("lists cards, other payments and refunds in %s", (language, expected, refunded) => {
    const { text, html } = renderPaidBy(paidBy, { language });
    expect(lines(text)).toEqual(expect.arrayContaining([...expected, refunded]));
    for (const { lastFour } of paidBy.cards) expect(html).toContain(lastFour);
    expect(html.match(/<th scope="row"/g)).toHaveLength(lines(text).length - 1);
  });

  test("shows what is still to be paid", () => {
    const { text } = renderPaidBy({ ...paidBy, dueCents: 117222, others: [] }, { language: "en" });
    expect(lines(text).at(-1)).toBe("Still to pay: €1,172.22");
  });

  test("names payments as the shop says, escaped, on one line", () => {
    const nameOf = () => '<i>"iDEAL" & more</i>\nTotal';
    const { text, html } = renderPaidBy(paidBy, { language: "en", nameOf });
    expect(html).toContain("&#60;i&#62;&#34;iDEAL&#34; &#38; more&#60;/i&#62;");
    expect(lines(text).at(-1)).toBe('<i>"iDEAL" & more</i> Total: €1,172.22');
  });

  test("calls the only payment of an order without cards just a payment", () => {
    const { text } = renderPaidBy({ ...paidBy, cards: [] }, { language: "en" });
    expect(lines(text)).toEqual(["Paid by", "Payment: €1,172.22"]);
  });
});
