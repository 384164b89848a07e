// Checked by the compiler alone (see handlers.test.ts): each line below must be an error, or this file does not compile.
import { type Handlers, refuse } from "../src/http/handler.js";

declare const handlers: Handlers;

// @ts-expect-error a handler is missing
export const missing: Handlers = { authenticate: handlers.authenticate };

export const unlisted: Pick<Handlers, "balance"> = {
  // @ts-expect-error balance does not list this code
  balance: async () => refuse("token_used"),
};

export const misshapen: Pick<Handlers, "listProviders"> = {
  // @ts-expect-error a provider has a name
  listProviders: async () => [{ id: 1 }],
};

export const keyless: Pick<Handlers, "listProviders"> = {
  // @ts-expect-error an operation without a key has no company
  listProviders: async (_request, { companyId }) => [{ id: companyId, name: "" }],
};

export const right: Pick<Handlers, "balance"> = { balance: async () => refuse("invalid_card") };
