import { type MailLanguage, mailLanguages } from "../mail-languages.js";

/** The texts of one language. `{…}` is a placeholder. */
export interface MailTexts {
  /** The locale of amounts: a BCP 47 tag. */
  readonly locale: string;
  readonly subject: string;
  readonly thanks: string;
  readonly order: string;
  readonly item: string;
  readonly amount: string;
  readonly credit: string;
  readonly total: string;
  readonly tax: string;
  readonly paidBy: string;
  readonly card: string;
  /** Another method, in an order that cards paid in part. */
  readonly other: string;
  /** The method of an order without cards. */
  readonly payment: string;
  readonly refunded: string;
  readonly stillToPay: string;
}

export const mailTexts: Readonly<Record<MailLanguage, MailTexts>> = {
  en: {
    locale: "en-IE",
    subject: "Your order {number}",
    thanks: "Thank you for your order",
    order: "Order {number}",
    item: "Item",
    amount: "Amount",
    credit: "Credit",
    total: "Total",
    tax: "VAT included",
    paidBy: "Paid by",
    card: "Gift card ending in {lastFour}",
    other: "Other payment",
    payment: "Payment",
    refunded: "Refunded",
    stillToPay: "Still to pay",
  },
  nl: {
    locale: "nl-NL",
    subject: "Je bestelling {number}",
    thanks: "Bedankt voor je bestelling",
    order: "Bestelling {number}",
    item: "Artikel",
    amount: "Bedrag",
    credit: "Tegoed",
    total: "Totaal",
    tax: "Inclusief btw",
    paidBy: "Betaald met",
    card: "Cadeaukaart eindigend op {lastFour}",
    other: "Andere betaling",
    payment: "Betaling",
    refunded: "Terugbetaald",
    stillToPay: "Nog te betalen",
  },
  de: {
    locale: "de-DE",
    subject: "Ihre Bestellung {number}",
    thanks: "Vielen Dank für Ihre Bestellung",
    order: "Bestellung {number}",
    item: "Artikel",
    amount: "Betrag",
    credit: "Guthaben",
    total: "Gesamtbetrag",
    tax: "Enthaltene MwSt.",
    paidBy: "Bezahlt mit",
    card: "Geschenkkarte mit den Endziffern {lastFour}",
    other: "Andere Zahlung",
    payment: "Zahlung",
    refunded: "Erstattet",
    stillToPay: "Noch zu zahlen",
  },
  fr: {
    locale: "fr-FR",
    subject: "Votre commande {number}",
    thanks: "Merci pour votre commande",
    order: "Commande {number}",
    item: "Article",
    amount: "Montant",
    credit: "Avoir",
    total: "Total",
    tax: "Dont TVA",
    paidBy: "Payé avec",
    card: "Carte cadeau se terminant par {lastFour}",
    other: "Autre paiement",
    payment: "Paiement",
    refunded: "Remboursé",
    stillToPay: "Reste à payer",
  },
};

/** The countries in which nearly everybody reads one of the languages. */
const countriesOf: Readonly<Record<MailLanguage, readonly string[]>> = {
  en: ["gb", "ie", "us", "au", "nz"],
  nl: ["nl"],
  de: ["de", "at", "li"],
  fr: ["fr", "mc"],
};

/**
 * Chooses the language of an order: its locale's, or that of the first country that has one of the languages.
 * @param order.locale a BCP 47 tag, if Medusa knows it
 * @param order.countries ISO 3166 codes
 * @param fallback the language if neither decides
 */
export function languageOf(
  { locale, countries }: { locale?: string | null; countries: readonly (string | null | undefined)[] },
  fallback: MailLanguage,
): MailLanguage {
  const [wanted] = (locale ?? "").toLowerCase().split(/[-_]/);
  const byLocale = mailLanguages.find((language) => language === wanted);
  const byCountry = countries.flatMap((country) =>
    mailLanguages.filter((language) => countriesOf[language].includes((country ?? "").toLowerCase())),
  );
  return byLocale ?? byCountry[0] ?? fallback;
}

/** Puts values into a text's placeholders. */
export const fill = (text: string, values: Readonly<Record<string, string>>): string =>
  text.replace(/\{(\w+)\}/g, (_, name: string) => values[name] ?? "");

/** Formats cents in an ISO 4217 currency, as readers of the language expect. */
export const formatMoney = (amountCents: number, currency: string, { locale }: MailTexts): string =>
  new Intl.NumberFormat(locale, { style: "currency", currency }).format(amountCents / 100);
