import { randomUUID } from "node:crypto";
import type { TestCompany, TestService } from "../../../test/support/service.js";
import type { WireAnswer } from "./wire.js";

/** A till's key, as `key create` prints it. */
export interface TestTill {
  readonly key_id: number;
  readonly apikey: string;
}

/** A card as `card issue` prints it. */
export interface StockCard {
  readonly card: number;
  readonly cardnumber: string;
  readonly pin: string;
}

/** Creates a till's key for a company. */
export const createTill = async (service: TestService, { companyId }: TestCompany, ...options: string[]) =>
  (await service.command(
    ...["key", "create", "--company", String(companyId), "--scope", "till", ...options],
  )) as TestTill;

/** Issues a card, which is not sold yet. */
export const issueStock = async (service: TestService, balance: number, ...options: string[]) =>
  (await service.command("card", "issue", "--balance", String(balance), "--inactive", ...options)) as StockCard;

/** Issues a card that is active. */
export const issueActive = async (service: TestService, balance: number, ...options: string[]) =>
  (await service.command("card", "issue", "--balance", String(balance), ...options)) as StockCard;

export interface TillCall {
  /** Null sends no Idempotency-Key. Default: a new one. */
  readonly key?: string | null | undefined;
}

/** Calls an operation of tills. The parameters have the names of the API. */
export async function callTill(
  url: string,
  operation: "activate" | "top-up",
  parameters: Record<string, unknown>,
  { key = randomUUID() }: TillCall = {},
): Promise<WireAnswer> {
  const response = await fetch(`${url}/till/v1/${operation}`, {
    method: "POST",
    headers: { "Content-Type": "application/json", ...(key !== null && { "Idempotency-Key": key }) },
    body: JSON.stringify(parameters),
  });
  const text = await response.text();
  return { status: response.status, headers: response.headers, text, body: JSON.parse(text) };
}
