import { feed } from "@giftcard-pay/events";
import { feedRoute } from "../feed-route.js";

/** The feed for other sites. */
export const GET = feedRoute(async () => feed);
