import { MedusaError } from "@medusajs/framework/utils";
import { readOrderNames } from "../../../../../medusa-tables/orders.js";
import { adminRoute } from "../../admin-route.js";
import { showCharge } from "../../charge-view.js";

/** One charge with its evidence: what people did about it, and the shop's other movements on the same card. */
export const GET = adminRoute(async ({ giftcard, sql, req }) => {
  const evidence = await giftcard.engine.evidence(String(req.params.reference));
  if (!evidence) throw new MedusaError(MedusaError.Types.NOT_FOUND, "There is no such charge.");
  const { charge, otherChargesOfCard: others, ...rest } = evidence;
  const names = await readOrderNames(
    sql,
    [charge, ...others].flatMap(({ orderId }) => orderId ?? []),
  );
  return {
    ...rest,
    charge: showCharge(charge, names),
    otherChargesOfCard: others.map((other) => showCharge(other, names)),
  };
});
