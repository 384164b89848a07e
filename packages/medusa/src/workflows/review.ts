import { randomUUID } from "node:crypto";
import type { MedusaContainer } from "@medusajs/framework/types";
import type { GiftcardService } from "../modules/giftcard/service.js";
import { GIFTCARD_MODULE } from "../names.js";

/** So many that a run costs little, and that the whole past of a large shop is looked through within hours. */
const PAGE = 2000;
const LATELY = 5000;

/**
 * The attempts that one run of recovery holds against Medusa's orders, as a common table expression `looked`: those that
 * changed within the last day, and one page of all others, each run the next. Medusa has no index by which its own
 * tables tell what changed, so this doesn't grow with the shop's past, and still finds everything. `$1` is `after`.
 *
 * What is read for each of them stands in subqueries that PostgreSQL can't turn into a join over a whole table.
 */
export const LOOKED = `looked as materialized (
  (select reference, state, order_id, cart_id, external_id from giftcard_attempt
    where updated_at > now() - interval '1 day' order by updated_at desc limit ${LATELY})
  union
  (select reference, state, order_id, cart_id, external_id from giftcard_attempt
    where reference > $1 order by reference limit ${PAGE})
)`;

/** @returns where this run's page begins; the next run, in whatever process, goes on after it */
export async function takeReviewPage(container: MedusaContainer): Promise<string> {
  const { runSql } = container.resolve<GiftcardService>(GIFTCARD_MODULE);
  const [row] = await runSql(
    `with begun as (select after from giftcard_review),
     page as (select reference from giftcard_attempt where reference > (select after from begun)
       order by reference limit ${PAGE}),
     ended as (select case when count(*) = ${PAGE} then max(reference) else '' end as after from page)
     update giftcard_review set after = ended.after from ended, begun returning begun.after as begins_after`,
    [],
  );
  return String(row?.begins_after ?? "");
}

/**
 * Holds an attempt while what is missing of it in Medusa is done, so that two processes don't both do it.
 *
 * @param holdMs how long no other process does the same
 * @returns false when another one holds it, or its state is another by now
 */
export async function holdAttempt(
  container: MedusaContainer,
  { reference, state }: { readonly reference: string; readonly state: string },
  holdMs: number,
): Promise<boolean> {
  const { runSql } = container.resolve<GiftcardService>(GIFTCARD_MODULE);
  const held = await runSql(
    `update giftcard_attempt set lease_owner = $2, lease_until = now() + ($3::float8 * interval '1 millisecond')
     where reference = $1 and state = $4 and (lease_until is null or lease_until <= now()) returning reference`,
    [reference, `review_${randomUUID()}`, holdMs, state],
  );
  return held.length === 1;
}
