import type { MedusaNextFunction, MedusaRequest, MedusaResponse } from "@medusajs/framework/http";

/** The field of a payment's data that holds a charge's sealed cancel token. */
const FIELD = "sealed_token";

/**
 * Removes sealed cancel tokens from every response of the store's routes. Medusa sends the data of payments and
 * payment sessions to any browser that asks for it. Express passes each JSON body through `send` as text. Responses
 * without a token, nearly all of them, cost one search and are not parsed.
 */
export function removeSealedTokens(_req: MedusaRequest, res: MedusaResponse, next: MedusaNextFunction): void {
  const send = res.send.bind(res) as (body?: unknown) => MedusaResponse;
  res.send = ((body?: unknown) => send(holdsToken(res, body) ? withoutTokens(body) : body)) as typeof res.send;
  next();
}

const holdsToken = (res: MedusaResponse, body: unknown): body is string =>
  typeof body === "string" && body.includes(FIELD) && String(res.get("Content-Type")).includes("json");

const withoutTokens = (body: string) =>
  JSON.stringify(JSON.parse(body, (key, value) => (key === FIELD ? undefined : value)));
