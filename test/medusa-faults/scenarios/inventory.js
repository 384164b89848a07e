const { Modules } = require("@medusajs/framework/utils");

const succeeded = (results) => results.filter(({ status }) => status === "fulfilled").length;

/** Twenty callers reserve one of five at once, as processes do that don't share a lock. */
async function reservationsAtOnce(shop) {
  const level = await shop.stock("JAZZ-STANDARD", 5);
  const inventory = shop.container.resolve(Modules.INVENTORY);
  const reserve = () => inventory.createReservationItems({ ...level, quantity: 1 });
  const made = succeeded(await Promise.allSettled(Array.from({ length: 20 }, reserve)));
  const { reserved_quantity } = await shop.levelOf("JAZZ-STANDARD");
  return { isOversold: made > 5, isCountLost: made !== Number(reserved_quantity) };
}

/** One call reserves two lines of the same item, and only one unit is left. */
async function twoLinesOfOneItem(shop) {
  const level = await shop.stock("JAZZ-REDUCED", 1);
  const lines = [1, 2].map((line) => ({ ...level, quantity: 1, line_item_id: `line_${line}` }));
  const made = await Promise.allSettled([shop.container.resolve(Modules.INVENTORY).createReservationItems(lines)]);
  const { reserved_quantity } = await shop.levelOf("JAZZ-REDUCED");
  return { made: succeeded(made), reserved: reserved_quantity };
}

module.exports = { reservationsAtOnce, twoLinesOfOneItem };
