import { migrate } from "../database/migrations.js";
import { command } from "./command.js";

export const migrateCommand = () =>
  command("migrate", "Bring the database's tables up to date").run(
    async ({ pool, out }) => {
      const applied = await migrate(pool);
      out.result({ applied }, applied.length > 0 ? `applied: ${applied.join(", ")}` : "already up to date");
    },
    { tables: "any" },
  );
