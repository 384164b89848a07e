import { migrate } from "../database.js";
import { type CommonOptions, command, withWorkplace } from "./workplace.js";

/** `migrate` */
export const migrateCommand = () =>
  command("migrate", "Bring the database's tables up to date").action((options: CommonOptions) =>
    withWorkplace(
      options,
      async ({ pool, out }) => {
        const applied = await migrate(pool);
        out.result({ applied }, applied.length > 0 ? `applied: ${applied.join(", ")}` : "up to date already");
      },
      { tables: "any" },
    ),
  );
