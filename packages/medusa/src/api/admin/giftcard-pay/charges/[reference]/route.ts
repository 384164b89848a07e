import { orderNamesOf } from "../../../../../medusa-tables/orders.js";
import { adminRoute, notFound, showCharge } from "../../admin-route.js";

/** Reads a charge with its evidence: people's decisions about it, and the shop's other charges of the same card. */
export const GET = adminRoute(async ({ giftcard, sql, req }) => {
  const evidence = await giftcard.engine.evidence(String(req.params.reference));
  if (!evidence) throw notFound("charge");
  const { charge, otherChargesOfCard: others, ...rest } = evidence;
  const names = await orderNamesOf(sql, [charge, ...others]);
  return {
    ...rest,
    charge: showCharge(charge, names),
    otherChargesOfCard: others.map((other) => showCharge(other, names)),
  };
});
