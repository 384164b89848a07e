/** Reads the tables that the checkout library's migrations create, and checks that no migration was edited. */
import { createHash } from "node:crypto";
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { root } from "../../lib/command.mjs";

export const FROZEN = "packages/checkout/frozen-migrations.json";

/** Returns the tables of the SQLite store. */
export async function readSqlite() {
  const { DatabaseSync } = await import("node:sqlite");
  const { createSqliteStore } = await import("../../../packages/checkout/dist/src/store/sqlite/store.js");
  const folder = await mkdtemp(path.join(tmpdir(), "giftcard-schema-"));
  const file = path.join(folder, "shop.db");
  (await createSqliteStore({ file })).close();
  const database = new DatabaseSync(file);
  try {
    const rows = database
      .prepare("select sql from sqlite_master where sql is not null order by tbl_name, type <> 'table', name")
      .all();
    return rows.map(({ sql }) => `${sql};\n`).join("\n");
  } finally {
    database.close();
    await rm(folder, { recursive: true });
  }
}

/**
 * Returns a hash of each migration, by its name. A recorded hash must not change.
 * @throws {Error} with the names of migrations that were edited or removed, that one store lacks, or of an old release
 */
export async function freeze() {
  /** @type {Record<string, string>} */
  const frozen = JSON.parse(await readFile(path.join(root, FROZEN), "utf8").catch(() => "{}"));
  /** @type {Record<string, string>} */
  const found = {};
  for (const [name, sql] of await readMigrations())
    found[name] = createHash("sha256").update(JSON.stringify(sql)).digest("hex");
  const wrong = Object.keys(frozen).filter((name) => found[name] !== frozen[name]);
  if (wrong.length > 0)
    throw new Error(
      `Edited or removed, though recorded: ${wrong.join(", ")}. A database runs a migration only once: add another ` +
        `one. Only before its release, remove its line from ${FROZEN}.`,
    );
  const { version } = JSON.parse(await readFile(path.join(root, "packages/checkout/package.json"), "utf8"));
  const late = Object.keys(found).filter((name) => {
    const [, release] = frozen[name] ? [] : name.split(", ");
    return release && release.localeCompare(version, "en", { numeric: true }) <= 0;
  });
  const isFirst = Object.keys(frozen).length === 0;
  if (late.length > 0 && !isFirst)
    throw new Error(`New, but not of a release after ${version}, the package's: ${late.join("; ")}.`);
  return `${JSON.stringify({ ...frozen, ...found }, null, 2)}\n`;
}

/** Reads every migration of the two stores and of the Medusa plugin, with its SQL. @returns {Promise<[string, unknown][]>} */
async function readMigrations() {
  const { postgresMigrations } = await import("../../../packages/checkout/dist/src/store/postgres/migrate.js");
  const { sqliteMigrations } = await import("../../../packages/checkout/dist/src/store/sqlite/migrate.js");
  /** @type {[string, unknown][]} */
  const found = [];
  const stores = Object.entries({ postgres: postgresMigrations, sqlite: sqliteMigrations });
  for (const [database, migrations] of stores)
    for (const { number, release, ...sql } of migrations) found.push([`${database} ${number}, ${release}`, sql]);
  const [postgres, sqlite] = stores.map(([, migrations]) =>
    migrations.map(({ number, release }) => `${number} of ${release}`).join(", "),
  );
  const gap = postgresMigrations.find(({ number }, index) => number !== index + 1);
  if (gap) throw new Error(`Number the migrations 1, 2, 3 and so on: ${gap.number} is out of order.`);
  if (postgres !== sqlite)
    throw new Error(`Give both stores the same migrations: postgres has ${postgres}, sqlite ${sqlite}.`);
  const folder = path.join(root, "packages/medusa/.medusa/server/src/modules/giftcard/migrations");
  for (const file of (await readdir(folder)).filter((name) => name.endsWith(".js")).sort()) {
    const name = path.basename(file, ".js");
    const made = await import(pathToFileURL(path.join(folder, file)).href);
    const migration = new made[name]({}, {});
    migration.up();
    found.push([`medusa ${name}`, migration.getQueries()]);
  }
  return found;
}
