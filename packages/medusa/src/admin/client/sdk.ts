import Medusa from "@medusajs/js-sdk";
import type { Reason } from "../../sentences.js";

/** Medusa's build of the admin defines these: the shop's address, and how people log in. */
declare const __BACKEND_URL__: string | undefined;
declare const __AUTH_TYPE__: "session" | "jwt" | undefined;
declare const __JWT_TOKEN_STORAGE_KEY__: string | undefined;

const baseUrl = __BACKEND_URL__ ?? "/";

/** Calls the shop as the person who is logged in, like the admin itself. */
export const sdk = new Medusa({
  baseUrl,
  auth: {
    type: __AUTH_TYPE__ ?? "session",
    ...(__JWT_TOKEN_STORAGE_KEY__ && { jwtTokenStorageKey: __JWT_TOKEN_STORAGE_KEY__ }),
  },
});

/** A refused request: the reasons if the shop answered with codes. */
export interface PostError extends Error {
  readonly reasons?: readonly Reason[];
}

/** Posts like `sdk.client.fetch`, whose errors have nothing but the message. @throws {PostError} */
export async function post<T>(path: string, body?: object): Promise<T> {
  const token = await sdk.client.getToken();
  const response = await fetch(baseUrl.replace(/\/$/, "") + path, {
    method: "POST",
    credentials: "include",
    headers: { "content-type": "application/json", ...(token && { authorization: `Bearer ${token}` }) },
    ...(body && { body: JSON.stringify(body) }),
  });
  const answer = await response.json().catch(() => ({}));
  if (response.ok) return answer;
  throw Object.assign(new Error(answer.message ?? response.statusText), { reasons: answer.reasons });
}
