import type { Queryable } from "../database/database.js";
import { exitCodes, OperatorError } from "../operator-error.js";

export const noCompany = () =>
  new OperatorError(
    "There is no company of this id. `company list` shows those that there are.",
    exitCodes.notFound,
  );

export const noCardOfId = () => new OperatorError("There is no card of this id.", exitCodes.notFound);

/**
 * Checks that what a list is asked for is there: a mistyped id would look like a company without sales.
 *
 * @throws {OperatorError} when there is no such company, or card
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
