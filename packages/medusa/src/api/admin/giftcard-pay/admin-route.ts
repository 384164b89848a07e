import { CheckoutError } from "@giftcard-pay/checkout";
import { ReportError, type Sql } from "@giftcard-pay/checkout/plugin";
import type { AuthenticatedMedusaRequest, MedusaResponse } from "@medusajs/framework/http";
import type { MedusaContainer } from "@medusajs/framework/types";
import { MedusaError, Modules } from "@medusajs/framework/utils";
import { contextOf, type GiftcardContext } from "../../../context/context.js";
import { toMedusaError } from "../../../errors.js";
import type { ReportContext } from "../../../reports/journal-reports.js";

/** What a route of the admin gets. */
export interface AdminCall {
  readonly giftcard: GiftcardContext;
  /** Runs one statement on Medusa's database. */
  readonly sql: Sql;
  readonly reports: ReportContext;
  readonly req: AuthenticatedMedusaRequest;
}

/** PostgreSQL's codes for text and numbers that it has no place for. */
const UNSTORABLE = ["22021", "22P02", "22P05", "22003"];

/** Makes a route for people who are logged in to the admin (Medusa lets nobody else through). */
export function adminRoute<T>(call: (context: AdminCall) => Promise<T>) {
  return async (req: AuthenticatedMedusaRequest, res: MedusaResponse): Promise<void> => {
    res.setHeader("Cache-Control", "no-store");
    const giftcard = contextOf(req.scope);
    const { engine, client, sql } = giftcard;
    const { journal, environment } = engine;
    const reports = { sql, journal, environment, companyId: client.companyId ?? 0 };
    try {
      res.status(200).json(await call({ giftcard, sql, reports, req }));
    } catch (error) {
      if (error instanceof CheckoutError) throw toMedusaError(error);
      if (UNSTORABLE.includes((error as { code?: string }).code ?? ""))
        throw new MedusaError(
          MedusaError.Types.INVALID_DATA,
          "It holds a character, or a number, that no database can: a NUL, half a character, or too many digits.",
        );
      if (!(error instanceof RangeError || error instanceof ReportError)) throw error;
      throw new MedusaError(MedusaError.Types.INVALID_DATA, error.message);
    }
  };
}

/** Who is logged in, as it is written down: the email with Medusa's id of the person, or the key that was used. */
export async function readActor({ auth_context, scope }: AuthenticatedMedusaRequest): Promise<string> {
  const { actor_id: id, actor_type: type } = auth_context;
  if (type !== "user") return `${type} ${id}`;
  const email = await readEmail(scope, id);
  return email ? `${email} (${id})` : id;
}

async function readEmail(container: MedusaContainer, id: string): Promise<string | undefined> {
  const [user] = await container.resolve(Modules.USER).listUsers({ id }, { select: ["email"] });
  return user?.email;
}

/** A text of the query, or undefined where it is missing or empty. */
export function readText(req: AuthenticatedMedusaRequest, name: string): string | undefined {
  const value = req.query[name];
  return typeof value === "string" && value !== "" ? value : undefined;
}

/** @throws {RangeError} where it isn't a whole number from 0 to `max` */
function readNumber(req: AuthenticatedMedusaRequest, name: string, otherwise: number, max: number): number {
  const text = readText(req, name);
  if (text === undefined) return otherwise;
  const value = Number(text);
  if (!/^\d+$/.test(text) || value > max) throw new RangeError(`${name} is a whole number up to ${max}.`);
  return value;
}

/** The page of a list that is asked for: `?limit=&offset=`. @throws {RangeError} */
export function readPage(req: AuthenticatedMedusaRequest, limit: number): { limit: number; offset: number } {
  return {
    limit: readNumber(req, "limit", limit, 200),
    offset: readNumber(req, "offset", 0, 1_000_000_000),
  };
}

/** What a person wants to decide isn't open (any more). */
export const notOpen = (message: string) =>
  new MedusaError(MedusaError.Types.NOT_ALLOWED, `${message} Nothing was done.`, "not_open");
