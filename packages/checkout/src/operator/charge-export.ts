import { createHash } from "node:crypto";
import type { Sealer } from "../sealing/seal.js";
import type { Charge } from "../store/charge.js";
import { type ReportSource, readCharges } from "./charge-pages.js";
import { type Days, momentsOf } from "./period.js";
import { csvCell } from "./statement.js";

/** The days of an export of charges. */
export interface ExportOptions extends Days {
  /** The time zone of the days. Default Europe/Amsterdam. */
  readonly timeZone?: string | undefined;
}

/** A charge for the issuer's command `transactions import`. It has no card number or PIN, and of the cancel token only a hash. */
export interface ExportedCharge {
  readonly reference: string;
  readonly company: number;
  /** Cents. */
  readonly requested: number;
  /** Cents. */
  readonly deducted: number;
  readonly last_four: string;
  /** Empty if the shop never got the token. */
  readonly token_sha256: string;
  readonly devalued_at: string;
  /** Empty if it was not reversed. */
  readonly reversed_at: string;
}

/**
 * Reads the charges that moved money within these days, oldest first.
 *
 * @throws {RangeError} if the days are invalid
 * @throws {SealError} if a token can't be opened
 */
export async function readExport(
  source: ReportSource,
  sealer: Sealer,
  options: ExportOptions,
): Promise<ExportedCharge[]> {
  const taken: ExportedCharge[] = [];
  for await (const page of readCharges(source, { moved: momentsOf(options, options.timeZone) })) {
    for (const charge of page) if (charge.deductedCents) taken.push(await exportOne(charge, sealer));
  }
  return taken.sort((one, other) => (one.devalued_at < other.devalued_at ? -1 : 1));
}

async function exportOne(charge: Charge, sealer: Sealer): Promise<ExportedCharge> {
  const { reference, sealedToken, state, devaluedAt, sentAt, createdAt, reversedAt, stateChangedAt } = charge;
  const token = sealedToken === null ? null : await sealer.openToken(sealedToken, reference);
  return {
    reference,
    company: charge.companyId,
    requested: charge.amountCents,
    deducted: charge.deductedCents ?? 0,
    last_four: charge.lastFour,
    token_sha256: token === null ? "" : createHash("sha256").update(token.reveal()).digest("hex"),
    devalued_at: (devaluedAt ?? sentAt ?? createdAt).toISOString(),
    reversed_at: state === "reversed" ? (reversedAt ?? stateChangedAt).toISOString() : "",
  };
}

const COLUMNS = [
  "reference",
  "company",
  "requested",
  "deducted",
  "last_four",
  "token_sha256",
  "devalued_at",
  "reversed_at",
] as const satisfies (keyof ExportedCharge)[];

/** Formats charges as the CSV file that the issuer imports. */
export const exportCsv = (charges: readonly ExportedCharge[]): string =>
  [
    COLUMNS.join(","),
    ...charges.map((charge) => COLUMNS.map((name) => csvCell(String(charge[name]))).join(",")),
    "",
  ].join("\r\n");
