import { readHealth } from "@giftcard-pay/checkout";
import { adminRoute } from "../desk.js";

/** Whether the service answers and takes the key, which environment it is, the clocks, the seals, and what is open. */
export const GET = adminRoute(({ giftcard }) => {
  const { client, sealer } = giftcard;
  const { environment, journal } = giftcard.engine;
  return readHealth({ environment, client, sealer, journal });
});
