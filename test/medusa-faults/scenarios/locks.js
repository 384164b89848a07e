const { setTimeout: sleep } = require("node:timers/promises");
const { getHttpResponseFromError } = require("@medusajs/framework/http");
const { Modules } = require("@medusajs/framework/utils");

const MEMORY = "in-memory";
const POSTGRES = "locking-postgres";
const MIGRATION = "@medusajs/locking-postgres/dist/migrations/Migration20241009222919_InitialSetupMigration";

const lockingOf = ({ container }) => container.resolve(Modules.LOCKING);

/** Returns the status that the shop's page gets: 200, or that of the error. */
const statusOf = (promise) =>
  promise.then(
    () => 200,
    (error) => getHttpResponseFromError(error).statusCode,
  );

/** A process took a lock for a second, and died. */
async function expiredLock(shop) {
  await createLockTable(shop.container.resolve("__pg_connection__"));
  const locking = lockingOf(shop);
  const options = { provider: POSTGRES, expire: 1 };
  await locking.acquire("cart", options);
  const early = await statusOf(locking.acquire("cart", options));
  await sleep(1200);
  return { early, late: await statusOf(locking.acquire("cart", options)) };
}

/** Runs the provider's migration. */
async function createLockTable(database) {
  const { Migration20241009222919_InitialSetupMigration: Migration } = require(MIGRATION);
  const statements = [];
  await Migration.prototype.up.call({ addSql: (statement) => statements.push(statement) });
  for (const statement of statements) await database.raw(statement);
}

/** A buyer waits for a lock until it times out. */
async function lockTimeout(shop) {
  const locking = lockingOf(shop);
  const holder = locking.execute("show", () => sleep(1500), { provider: MEMORY });
  const status = await statusOf(locking.execute("show", async () => {}, { provider: MEMORY, timeout: 1 }));
  await holder;
  return { status };
}

/** Two carts have the same two shows in another order, and the second show is busy when they come. */
async function twoShowsInMemory(shop) {
  const locking = lockingOf(shop);
  const options = { provider: MEMORY, timeout: 1 };
  const busy = locking.execute("show b", () => sleep(200), { provider: MEMORY });
  const carts = [
    ["show b", "show a"],
    ["show a", "show b"],
  ];
  const statuses = await Promise.all(carts.map((keys) => statusOf(locking.execute(keys, () => sleep(10), options))));
  await busy;
  await sleep(1000);
  const later = await statusOf(locking.execute("show a", async () => {}, options));
  return { statuses, later };
}

/**
 * Twelve buyers of one show at once, then one of each of twelve shows. The pool has ten connections.
 * @returns how many buyers had their answer after six seconds, and whether a page that only reads had one
 */
async function fullPool(shop) {
  const locking = lockingOf(shop);
  const database = shop.container.resolve("__pg_connection__");
  const answers = { oneShow: 0, page: false, manyShows: 0 };
  const buy = async (show, group) => {
    await locking.execute(show, () => database.raw("select pg_sleep(0.01)"), { provider: POSTGRES });
    answers[group] += 1;
  };
  const wave = async (buyers) => {
    // The buyers have their connections by then.
    const page = sleep(500).then(async () => {
      await database.raw("select 1");
      answers.page = true;
    });
    await Promise.race([Promise.allSettled([...buyers, page]), sleep(6500)]);
  };
  await wave(Array.from({ length: 12 }, () => buy("show", "oneShow")));
  if (answers.oneShow === 12) await wave(Array.from({ length: 12 }, (_, i) => buy(`show ${i}`, "manyShows")));
  return answers;
}

module.exports = { expiredLock, lockTimeout, twoShowsInMemory, fullPool };
