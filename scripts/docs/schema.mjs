/** Writes each database's tables as they are after all migrations, so that they can be read in one place. */
import { readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import pg from "pg";
import { build } from "../build.mjs";
import { command, root } from "../lib/command.mjs";
import { FROZEN, freeze, readSqlite } from "./schema/checkout.mjs";
import { readPostgres } from "./schema/postgres.mjs";

const NOTE =
  "-- Written by `npm run docs -- schema`, the tables that the migrations create. To change them, add a migration.\n\n";

/**
 * The writers of the schema files, by file. Each gets an empty PostgreSQL database.
 * @type {Record<string, (url: string) => Promise<string>>}
 */
const files = {
  // First, so that nothing is written if a migration was edited.
  [FROZEN]: freeze,
  "packages/service/schema.sql": async (url) => {
    const { migrate, openPool } = await import("@giftcard-pay/service");
    const pool = openPool(url, () => {}, 1);
    await migrate(pool).finally(() => pool.end());
    return NOTE + (await readPostgres(url, "public"));
  },
  "packages/checkout/schema.postgres.sql": async (url) => {
    const { createPostgresStore } = await import("../../packages/checkout/dist/src/index.js");
    const pool = new pg.Pool({ connectionString: url, max: 1 });
    await createPostgresStore({ pool })
      .migrate()
      .finally(() => pool.end());
    return NOTE + (await readPostgres(url, "public"));
  },
  "packages/checkout/schema.sqlite.sql": async () => NOTE + (await readSqlite()),
};

const HELP = `Writes the tables that the migrations create, for reading.

  npm run docs -- schema           writes all files
  npm run docs -- schema --check   fails if a file is out of date; writes nothing

Files: ${Object.keys(files).join(", ")}
`;

/** Makes an empty database. @param {string} serverUrl @param {string} file */
async function makeDatabase(serverUrl, file) {
  const name = file.replaceAll(/\W/g, "_");
  const db = new pg.Client({ connectionString: serverUrl });
  await db.connect();
  try {
    await db.query(`create database ${db.escapeIdentifier(name)}`);
  } finally {
    await db.end();
  }
  const url = new URL(serverUrl);
  url.pathname = `/${name}`;
  return url.href;
}

const options = /** @type {const} */ ({ check: { type: "boolean" } });

await command({ help: HELP, options }, async ({ values, signal, say }) => {
  await build(["service", "checkout", "medusa"], { progress: say, signal });
  const { startThrowawayPostgres } = await import("@giftcard-pay/service");
  const server = await startThrowawayPostgres();
  try {
    const old = [];
    for (const [file, read] of Object.entries(files)) {
      const target = path.join(root, file);
      const text = await read(await makeDatabase(server.url, file));
      if ((await readFile(target, "utf8").catch(() => "")) === text) continue;
      if (values.check) old.push(file);
      else await writeFile(target, text);
    }
    if (old.length > 0) throw new Error(`Out of date: ${old.join(", ")}. Run npm run docs -- schema.`);
  } finally {
    await server.close();
  }
});
