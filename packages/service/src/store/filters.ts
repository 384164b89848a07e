import type { Queryable } from "../database/database.js";
import { exitCodes, OperatorError } from "../operator-error.js";

export const noCompany = () =>
  new OperatorError("There is no company with this id. `company list` lists the companies.", exitCodes.notFound);

export const noCardOfId = () => new OperatorError("There is no card with this id.", exitCodes.notFound);

/** Filters of a list by id and day, combined with "and". Days are inclusive, by the clock in Amsterdam. */
export interface ListFilter {
  readonly company?: number | undefined;
  readonly card?: number | undefined;
  readonly from?: string | undefined;
  readonly to?: string | undefined;
}

/**
 * Checks that a filter's company and card exist. Without this check, a mistyped id would look like a company without sales.
 *
 * @throws {OperatorError} if there is no such company or card
 */
export async function checkFilter(
  db: Queryable,
  { companyId, cardId }: { companyId?: number | undefined; cardId?: number | undefined },
): Promise<void> {
  const { rows } = await db.query<{ company: boolean; card: boolean }>(
    `select $1::int is null or exists (select from companies where id = $1) as company,
       $2::bigint is null or exists (select from cards where id = $2) as card`,
    [companyId ?? null, cardId ?? null],
  );
  if (!rows[0]?.company) throw noCompany();
  if (!rows[0].card) throw noCardOfId();
}
