import { decisionRoute } from "../../../decision-route.js";

/** Writes down that the money is off the card, and stays off. */
export const POST = decisionRoute((engine, reference, actor) => engine.markTaken(reference, actor));
