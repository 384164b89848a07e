/**
 * Runs every scenario once, and writes what each returned to the file TEST_RESULTS. `medusa exec` runs it.
 * A scenario reports what happened; the test decides what is right.
 */
const { writeFileSync } = require("node:fs");
const orders = require("./scenarios/orders");
const inventory = require("./scenarios/inventory");
const locks = require("./scenarios/locks");
const market = require("./market");

// The last one may leave the database pool without a free connection.
const scenarios = { ...orders, ...inventory, ...locks };

async function runScenarios({ container }) {
  const shop = await market.openShop(container);
  const results = {};
  for (const [name, run] of Object.entries(scenarios)) {
    results[name] = await run(shop).catch((error) => ({ failed: `${error.stack ?? error}` }));
  }
  writeFileSync(process.env.TEST_RESULTS, JSON.stringify(results));
}

module.exports = { default: runScenarios };
