import { adminRoute, notFound, showCharges } from "../../admin-route.js";

/** Reads a charge with its evidence: people's decisions about it, and the shop's other charges of the same card. */
export const GET = adminRoute(async ({ giftcard, sql, req }) => {
  const evidence = await giftcard.engine.evidence(String(req.params.reference));
  if (!evidence) throw notFound("charge");
  const { charge, otherChargesOfCard, ...rest } = evidence;
  const { charges, lineTitles } = await showCharges(sql, [charge, ...otherChargesOfCard]);
  const [shown, ...others] = charges;
  return { ...rest, charge: shown, otherChargesOfCard: others, lineTitles };
});
