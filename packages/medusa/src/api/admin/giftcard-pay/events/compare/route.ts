import { compareWithIssuer } from "../../../../../events/compare.js";
import { askIssuer, eventRoute } from "../../event-route.js";

/** Compares all events with the issuer's list: `{ compared, changed }`, the second with the keys of what has changed there. */
export const POST = eventRoute(({ req }) => askIssuer(compareWithIssuer(req.scope)));
