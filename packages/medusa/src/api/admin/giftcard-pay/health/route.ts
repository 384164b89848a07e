import { readHealth } from "../../../../reports/health.js";
import { adminRoute } from "../desk.js";

/** Whether the service answers and takes the key, which environment it is, the clocks, the seals, and what is open. */
export const GET = adminRoute(({ giftcard, run }) => {
  const { engine, client, sealer } = giftcard;
  return readHealth({ engine, client, sealer, run });
});
