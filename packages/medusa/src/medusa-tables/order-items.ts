/** An item or a shipping method, which has one unit. */
export interface BookedItem {
  readonly id: string;
  readonly title: string;
  readonly variantId: string | null;
  readonly productId: string | null;
  readonly isShipping: boolean;
  /** How many units the order had when it was placed; 0 if an edit or exchange added the item. */
  readonly placed: number;
  readonly sold: number;
  /** How many of them the buyer keeps in Medusa: without those that were returned, or removed by an edit. */
  readonly kept: number;
  /** What a unit cost when the order was placed, in major units with tax; null if an edit or exchange added the item. */
  readonly paidEach: string | null;
  /** What a unit costs now, in major units with tax, without discounts. */
  readonly price: string;
  /** The discounts on the item now, in major units with tax. */
  readonly discount: string;
  /** How many units these discounts were computed for. An edit that doesn't carry them over leaves them as they are. */
  readonly discounted: number;
}

const taxFactor = (table: string, column: string, id: string) =>
  `(select 1 + coalesce(sum(rate), 0) / 100 from ${table} where ${column} = ${id} and deleted_at is null)`;

/**
 * The items of the order `o`, as {@link BookedItem}s; `start.version` is its version when it was placed. Medusa copies all
 * items, and their discounts, into each version of an order. Reads order_item, order_line_item, order_shipping,
 * order_shipping_method, their tax lines and adjustments, order_change and order_change_action.
 */
export const ITEMS = `
with step as (
  select item_id as id, version, quantity, unit_price,
    coalesce(return_received_quantity, 0) + coalesce(return_dismissed_quantity, 0) as returned
  from order_item where order_id = o.id and version >= start.version and deleted_at is null
  union select shipping_method_id, version, 1, null, 0
  from order_shipping where order_id = o.id and version >= start.version and deleted_at is null
), line as (
  select id, title, variant_id, product_id, unit_price, is_tax_inclusive, false as is_shipping,
    ${taxFactor("order_line_item_tax_line", "item_id", "item.id")} as tax_factor
  from order_line_item item where id in (select id from step)
  union all select id, name, null, null, amount, is_tax_inclusive, true,
    ${taxFactor("order_shipping_method_tax_line", "shipping_method_id", "method.id")}
  from order_shipping_method method where id in (select id from step)
), discount as (
  select line.id, version, sum(amount * case when cut.is_tax_inclusive then 1 else tax_factor end) as amount
  from line join order_line_item_adjustment cut on cut.item_id = line.id and cut.deleted_at is null group by line.id, version
  union all select line.id, version, sum(amount * tax_factor)
  from line join order_shipping_method_adjustment cut on cut.shipping_method_id = line.id and cut.deleted_at is null group by line.id, version
), replaced as (
  select action.details ->> 'reference_id' as id, max(change.version) as version
  from order_change change join order_change_action action on action.order_change_id = change.id and action.deleted_at is null
  where change.order_id = o.id and change.status = 'confirmed' and change.deleted_at is null
    and action.action in ('ITEM_ADJUSTMENTS_REPLACE', 'SHIPPING_ADJUSTMENTS_REPLACE')
  group by action.details ->> 'reference_id'
), history as (
  select id, min(version) as first, sum(greatest(0, quantity - before)) as sold from (
    select id, version, quantity, lag(quantity, 1, 0::numeric) over (partition by id order by version) as before from step) change
  group by id
), priced as (
  select step.id, step.version, step.quantity, step.quantity - step.returned as kept, coalesce(discount.amount, 0) as discount,
    coalesce(step.unit_price, line.unit_price) * case when line.is_tax_inclusive then 1 else line.tax_factor end as price
  from step join line on line.id = step.id
  left join discount on discount.id = step.id and discount.version = step.version
)
select json_agg(json_build_object('id', line.id, 'title', line.title, 'variantId', line.variant_id, 'productId', line.product_id,
  'isShipping', line.is_shipping, 'placed', coalesce(placed.quantity, 0)::float8, 'sold', history.sold::float8,
  'kept', coalesce(now.kept, 0)::float8, 'paidEach', (placed.price - placed.discount / nullif(placed.quantity, 0))::text,
  'price', coalesce(now.price, 0)::text, 'discount', coalesce(now.discount, 0)::text,
  'discounted', coalesce(discounted.quantity, 0)::float8) order by line.is_shipping, line.id) as all
from line join history on history.id = line.id
left join replaced on replaced.id = line.id
left join priced placed on placed.id = line.id and placed.version = start.version
left join priced now on now.id = line.id and now.version = o.version
left join step discounted on discounted.id = line.id
  and discounted.version = greatest(history.first, coalesce(replaced.version, 0))`;
