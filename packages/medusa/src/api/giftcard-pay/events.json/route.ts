import { feed } from "@giftcard-pay/events";
import { feedRoute } from "../feed-route.js";

export { OPTIONS } from "../feed-route.js";

/** The feed for an issuer to fetch. */
export const GET = feedRoute(async () => feed);
