/** The example shop's goods. */
module.exports = require("../../../../../../examples/medusa-store/.medusa/server/src/migration-scripts/initial-data-seed.js");
