import { feed } from "@giftcard-pay/events";
import { feedRoute } from "../feed-route.js";

export { OPTIONS } from "../feed-route.js";

/** The feed that an issuer fetches. */
export const GET = feedRoute(async () => feed);
