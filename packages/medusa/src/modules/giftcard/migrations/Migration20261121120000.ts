import { Migration } from "@medusajs/framework/mikro-orm/migrations";

/**
 * Which process works at a cart's payment. Unlogged: after a crash of PostgreSQL nobody works at any, and a lease costs no
 * wait for the disk.
 */
export class Migration20261121120000 extends Migration {
  override up(): void {
    this.addSql(`create unlogged table if not exists giftcard_cart_lease (
      cart_id text primary key,
      owner text not null,
      until timestamptz not null
    )`);
  }

  override down(): void {
    this.addSql("drop table if exists giftcard_cart_lease");
  }
}
