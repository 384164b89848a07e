import { journalSchema } from "@giftcard-pay/checkout";
import { Migration } from "@medusajs/framework/mikro-orm/migrations";

/** What recovery finds its work by, which process works at a cart, and what the money flow's tables got meanwhile. */
export class Migration20261121120000 extends Migration {
  override up(): void {
    for (const statement of journalSchema.up) this.addSql(statement);
    this.addSql("create index if not exists giftcard_attempt_changed on giftcard_attempt (updated_at)");
    // Unlogged: after a crash of PostgreSQL nobody works at any cart, and a lease costs no wait for the disk.
    this.addSql(`create unlogged table if not exists giftcard_cart_lease (
      cart_id text primary key,
      owner text not null,
      until timestamptz not null
    )`);
    this.addSql(`create table if not exists giftcard_remainder (
      session_id text primary key,
      cart_id text not null,
      created_at timestamptz not null default now()
    )`);
    this.addSql(`create table if not exists giftcard_unpaid_order (
      order_id text primary key,
      cart_id text not null,
      may_be_pending boolean not null,
      found_at timestamptz not null default now(),
      refusal text,
      refused_at timestamptz,
      canceled_at timestamptz,
      kept_by text,
      kept_at timestamptz
    )`);
    this.addSql(`create table if not exists giftcard_review (
      id boolean primary key default true check (id),
      after text not null
    )`);
    this.addSql("insert into giftcard_review (after) values ('') on conflict do nothing");
  }

  override down(): void {
    for (const table of ["review", "unpaid_order", "remainder", "cart_lease"].map(
      (name) => `giftcard_${name}`,
    )) {
      this.addSql(`drop table if exists ${table}`);
    }
    this.addSql("drop index if exists giftcard_attempt_changed");
  }
}
