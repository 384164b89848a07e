import { askIssuer, eventRoute } from "../../event-route.js";

/** So many concepts are shown, the newest. */
const MOST_CONCEPTS = 500;

/** The issuer's ticketing providers, and the company's event concepts. */
export const GET = eventRoute(async ({ giftcard: { client } }) => {
  const [providers, concepts] = await askIssuer(
    Promise.all([client.listProviders(), client.listEventConcepts()]),
  );
  return { providers, concepts: concepts.slice(-MOST_CONCEPTS) };
});
