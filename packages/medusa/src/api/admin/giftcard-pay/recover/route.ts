import { recoverNow } from "../../../../recovery/recovery.js";
import { adminRoute, showCharge } from "../admin-route.js";

/** Runs recovery now, like the scheduled job does every minute. */
export const POST = adminRoute(async ({ req }) => {
  const { charges, canceledOrderIds, failed } = await recoverNow(req.scope);
  return { charges: charges.map((charge) => showCharge(charge)), canceledOrderIds, failed };
});
