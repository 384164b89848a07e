import { recoverNow } from "../../../../recovery/recovery.js";
import { adminRoute } from "../admin-route.js";
import { showCharge } from "../charge-view.js";

/** Runs recovery now, as the scheduled job does each minute. */
export const POST = adminRoute(async ({ req }) => {
  const { charges, canceledOrderIds, failed } = await recoverNow(req.scope);
  return { charges: charges.map((charge) => showCharge(charge)), canceledOrderIds, failed };
});
