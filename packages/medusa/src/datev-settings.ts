import { z } from "@medusajs/framework/zod";

const account = z.string().regex(/^[1-9]\d{3,8}$/);

/** The settings of a DATEV file: whose books it is for, and its accounts. */
export const datevSchema = z.strictObject({
  /** The tax consultant's number at DATEV, 1001 to 9999999. */
  consultantNumber: z.int().min(1001).max(9_999_999),
  /** The client's number at the consultant, 1 to 99999. */
  clientNumber: z.int().min(1).max(99_999),
  /** The chart of accounts, which decides the defaults of all accounts. */
  chart: z.enum(["SKR03", "SKR04"]),
  /** The length of the client's general ledger accounts, 4 to 8. Longer accounts than 4 end with zeros. */
  accountLength: z.int().min(4).max(8).default(4),
  /** The first day of the fiscal year, mm-dd. */
  fiscalYearStart: z
    .string()
    .regex(/^(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])$/)
    .default("01-01"),
  /** What customers owe: each sale is booked here, and each payment clears it. */
  receivables: account.optional(),
  /** What the issuer of the gift cards owes. */
  giftCards: account.optional(),
  /** Money in transit from all other methods. */
  payments: account.optional(),
  /** The account of a single method, by Medusa's id of the payment provider. */
  paymentsByProvider: z.record(z.string().min(1), account).default({}),
  /** The revenue account of each VAT rate, by its percentage, such as `{ "19": "8400" }`. */
  revenue: z.record(z.string().regex(/^\d{1,2}(\.\d{1,4})?$/), account).default({}),
});

/** The settings of a DATEV file, as a merchant writes them. */
export type DatevInput = z.input<typeof datevSchema>;

/** The settings of a DATEV file, with defaults. */
export type DatevSettings = z.output<typeof datevSchema>;
