import { decisionRoute } from "../../../decision-route.js";

/** Writes down that nothing was taken, or that it is back on the card. */
export const POST = decisionRoute((engine, reference, actor) => engine.markNotTaken(reference, actor));
