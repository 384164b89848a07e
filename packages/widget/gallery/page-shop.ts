/** Simulates the shop in the page when the gallery is served as static files: calls to `/shop/` never leave the page. */
import { answerCall } from "../test/shop/shop-carts.mjs";

const overNetwork = globalThis.fetch;

globalThis.fetch = async (input, init = {}) => {
  if (typeof input !== "string" || !input.startsWith("/shop/")) return overNetwork(input, init);
  const { method = "GET", body, headers, signal } = init;
  const call = {
    method,
    url: input,
    headers: Object.fromEntries(new Headers(headers)),
    text: typeof body === "string" ? body : "",
  };
  const answer = await Promise.race([answerCall(call), aborted(signal)]);
  if ("cut" in answer) throw new TypeError("The connection ended.");
  return new Response(answer.body, {
    status: answer.status,
    headers: { "content-type": "application/json", ...answer.headers },
  });
};

/** Rejects once the signal is aborted, as `fetch` does. */
function aborted(signal?: AbortSignal | null): Promise<never> {
  return new Promise((_, reject) => {
    if (signal?.aborted) reject(signal.reason);
    signal?.addEventListener("abort", () => reject(signal.reason), { once: true });
  });
}
