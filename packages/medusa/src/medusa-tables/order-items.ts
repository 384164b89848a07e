/** An item or a shipping method, which has one unit. */
export interface BookedItem {
  readonly id: string;
  readonly variantId: string | null;
  readonly productId: string | null;
  /** When an edit removed it entirely; null if the order still has it. */
  readonly removedAt: string | null;
  /** Oldest first. */
  readonly versions: readonly ItemVersion[];
}

/** An item as a version of its order has it. */
export interface ItemVersion {
  readonly createdAt: string;
  /** Whether the order was placed with this version. Otherwise an edit, return, exchange or claim created it. */
  readonly isPlaced: boolean;
  readonly quantity: number;
  /** How many units the buyer keeps: those that were not returned. */
  readonly kept: number;
  /** How many of these are to be returned: a return was requested, and isn't received. */
  readonly requested: number;
  /** The price of a unit, in major units with tax, before discounts. */
  readonly price: string;
  /** The discounts on all its units, in major units with tax. */
  readonly discount: string;
  /** Whether this version computed the discounts anew. Otherwise they are a copy. */
  readonly isDiscountedAnew: boolean;
}

const taxFactor = (table: string, column: string, id: string) =>
  `(select 1 + coalesce(sum(rate), 0) / 100 from ${table} where ${column} = ${id} and deleted_at is null)`;

/**
 * The items of the order `o`, as {@link BookedItem}s; `start.version` is its version when it was placed. Medusa copies all
 * items, and their discounts, into each version of an order.
 */
export const ITEMS = `
with step as (
  select item_id as id, version, created_at, quantity, unit_price,
    coalesce(return_received_quantity, 0) + coalesce(return_dismissed_quantity, 0) as returned,
    coalesce(return_requested_quantity, 0) as requested
  from order_item where order_id = o.id and version >= start.version and deleted_at is null
  union select shipping_method_id, version, created_at, 1, null, 0, 0
  from order_shipping where order_id = o.id and version >= start.version and deleted_at is null
), line as (
  select id, variant_id, product_id, unit_price, is_tax_inclusive, false as is_shipping,
    ${taxFactor("order_line_item_tax_line", "item_id", "item.id")} as tax_factor
  from order_line_item item where id in (select id from step)
  union all select id, null, null, amount, is_tax_inclusive, true,
    ${taxFactor("order_shipping_method_tax_line", "shipping_method_id", "method.id")}
  from order_shipping_method method where id in (select id from step)
), discount as (
  select line.id, version, sum(amount * case when cut.is_tax_inclusive then 1 else tax_factor end) as amount
  from line join order_line_item_adjustment cut on cut.item_id = line.id and cut.deleted_at is null group by line.id, version
  union all select line.id, version, sum(amount * tax_factor)
  from line join order_shipping_method_adjustment cut on cut.shipping_method_id = line.id and cut.deleted_at is null group by line.id, version
), replaced as (
  select distinct action.details ->> 'reference_id' as id, change.version
  from order_change change join order_change_action action on action.order_change_id = change.id and action.deleted_at is null
  where change.order_id = o.id and change.status = 'confirmed' and change.deleted_at is null
    and action.action in ('ITEM_ADJUSTMENTS_REPLACE', 'SHIPPING_ADJUSTMENTS_REPLACE')
), history as (
  select step.id, max(step.version) as last, json_agg(json_build_object('createdAt', step.created_at,
    'isPlaced', step.version = start.version, 'quantity', step.quantity::float8, 'kept', (step.quantity - step.returned)::float8,
    'requested', step.requested::float8,
    'price', (coalesce(step.unit_price, line.unit_price) * case when line.is_tax_inclusive then 1 else line.tax_factor end)::text,
    'discount', coalesce(discount.amount, 0)::text, 'isDiscountedAnew', replaced.id is not null) order by step.version) as versions
  from step join line on line.id = step.id
  left join discount on discount.id = step.id and discount.version = step.version
  left join replaced on replaced.id = step.id and replaced.version = step.version
  group by step.id
)
select json_agg(json_build_object('id', line.id, 'variantId', line.variant_id, 'productId', line.product_id,
  'removedAt', removal.at, 'versions', history.versions) order by line.is_shipping, line.id) as all
from line join history on history.id = line.id
cross join lateral (select min(created_at) as at from order_summary
  where order_id = o.id and version > history.last and deleted_at is null) removal`;
