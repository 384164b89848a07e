import { journalSchema } from "@giftcard-pay/checkout";
import { Migration } from "@medusajs/framework/mikro-orm/migrations";

/** The money flow's tables. */
export class Migration20261121000000 extends Migration {
  override up(): void {
    for (const statement of journalSchema.up) this.addSql(statement);
  }

  override down(): void {
    for (const statement of journalSchema.down) this.addSql(statement);
  }
}
