import { CheckoutError } from "@giftcard-pay/checkout";
import type { ChargeView } from "@giftcard-pay/checkout/operator";
import { type Sql, viewCharge } from "@giftcard-pay/checkout/plugin";
import type { AuthenticatedMedusaRequest, MedusaNextFunction, MedusaResponse } from "@medusajs/framework/http";
import { MedusaError, Modules } from "@medusajs/framework/utils";
import { contextOf, type GiftcardContext } from "../../../context/context.js";
import { reasonsOf, refusal, toMedusaError, withReasons } from "../../../errors.js";
import { readLineTitles } from "../../../medusa-tables/charge-search.js";
import { readCanceledOrders, readOrderNames } from "../../../medusa-tables/orders.js";
import type { ReportContext } from "../../../reports/journal-reports.js";
import type { ReasonCode } from "../../../sentences.js";
import { replaceBody } from "../../answer.js";

interface AdminCall {
  readonly giftcard: GiftcardContext;
  readonly sql: Sql;
  readonly reports: ReportContext;
  readonly req: AuthenticatedMedusaRequest;
}

/** PostgreSQL's codes for texts and numbers that it can't store. */
const UNSTORABLE = ["22021", "22P02", "22P05", "22003"];

/** Makes a route for people who are logged in to the admin. Medusa rejects everybody else. */
export function adminRoute<T>(call: (context: AdminCall) => Promise<T>) {
  return async (req: AuthenticatedMedusaRequest, res: MedusaResponse, next: MedusaNextFunction): Promise<void> => {
    res.setHeader("Cache-Control", "no-store");
    try {
      res.status(200).json(await call(toCall(req)));
    } catch (error) {
      const reasons = reasonsOf(error);
      // Medusa answers errors, with a message alone.
      if (reasons) replaceBody(res, next, (body) => ({ ...(body as object), reasons }));
      throw toAdminError(error);
    }
  };
}

function toCall(req: AuthenticatedMedusaRequest): AdminCall {
  const giftcard = contextOf(req.scope);
  const { engine, client, sql } = giftcard;
  const { journal, environment } = engine;
  return { giftcard, sql, reports: { sql, journal, environment, companyId: client.companyId ?? 0 }, req };
}

function toAdminError(error: unknown): unknown {
  if (error instanceof CheckoutError) return toMedusaError(error);
  if (UNSTORABLE.includes((error as { code?: string }).code ?? ""))
    return new MedusaError(
      MedusaError.Types.INVALID_DATA,
      "It contains a character or a number that a database can't store: a NUL, half a character, or too many digits.",
    );
  if (!(error instanceof RangeError)) return error;
  return new MedusaError(MedusaError.Types.INVALID_DATA, error.message);
}

/** Returns the logged-in actor for the audit log: the email and Medusa's id of the person, or the API key. */
export async function readActor({ auth_context, scope }: AuthenticatedMedusaRequest): Promise<string> {
  const { actor_id: id, actor_type: type } = auth_context;
  if (type !== "user") return `${type} ${id}`;
  const [user] = await scope.resolve(Modules.USER).listUsers({ id }, { select: ["email"] });
  return user?.email ? `${user.email} (${id})` : id;
}

/** Reads a text from the query; undefined if it is missing or empty. */
export function readText(req: AuthenticatedMedusaRequest, name: string): string | undefined {
  const value = req.query[name];
  return typeof value === "string" && value !== "" ? value : undefined;
}

/** Reads a number from the query. @throws {RangeError} if it isn't a whole number from 0 to `max` */
function readNumber(req: AuthenticatedMedusaRequest, name: string, fallback: number, max: number): number {
  const text = readText(req, name);
  if (text === undefined) return fallback;
  const value = Number(text);
  if (!/^\d+$/.test(text) || value > max) throw new RangeError(`${name} is a whole number up to ${max}.`);
  return value;
}

/** Reads the requested page of a list: `?limit=&offset=`. @throws {RangeError} */
export function readPage(req: AuthenticatedMedusaRequest, limit: number): { limit: number; offset: number } {
  return {
    limit: readNumber(req, "limit", limit, 200),
    offset: readNumber(req, "offset", 0, 1_000_000_000),
  };
}

export const notOpen = (code: ReasonCode) =>
  withReasons((message) => refusal(message, "not_open"), [{ code }, { code: "nothingDone" }]);

export const notFound = (what: string) => new MedusaError(MedusaError.Types.NOT_FOUND, `There is no such ${what}.`);

export async function withOrderNames<T extends { readonly orderId: string | null }>(sql: Sql, rows: readonly T[]) {
  const names = await readOrderNames(sql, rows);
  return rows.map((row) => ({ ...row, orderName: names[row.orderId ?? ""] ?? null }));
}

/** Returns a charge as the admin shows it. Amounts are whole cents, times are ISO 8601. */
export function showCharge(charge: ChargeView) {
  const { externalId: sessionId, ...view } = viewCharge(charge);
  return { ...view, sessionId, orderName: null as string | null };
}

/**
 * Returns charges as the admin shows them, with their orders' display names, and the titles of the lines that they pay
 * for by the lines' ids.
 */
export async function showCharges(sql: Sql, charges: readonly ChargeView[]) {
  const lineIds = charges.flatMap(({ pieces }) => pieces?.map(({ line }) => line) ?? []);
  const canceled = await readCanceledOrders(sql, charges);
  const shown = charges.map((charge) => ({
    ...showCharge(charge),
    isOrderCanceled: canceled.includes(charge.orderId ?? ""),
  }));
  return { charges: await withOrderNames(sql, shown), lineTitles: await readLineTitles(sql, lineIds) };
}
