import { decisionRoute } from "../../../decision-route.js";

/** Asks the service again, or tries an owed reversal now. */
export const POST = decisionRoute((engine, reference, actor) => engine.retry(reference, actor));
