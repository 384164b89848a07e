import { migrate } from "../database/migrations.js";
import { type CommonOptions, command, withContext } from "./context.js";

/** `migrate` */
export const migrateCommand = () =>
  command("migrate", "Bring the database's tables up to date").action((options: CommonOptions) =>
    withContext(
      options,
      async ({ pool, out }) => {
        const applied = await migrate(pool);
        out.result({ applied }, applied.length > 0 ? `applied: ${applied.join(", ")}` : "already up to date");
      },
      { tables: "any" },
    ),
  );
