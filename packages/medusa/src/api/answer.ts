import type { MedusaNextFunction, MedusaResponse } from "@medusajs/framework/http";

/*
 * Both replace the response's own functions, since Express offers no other way to see a response before it is sent, or to notice
 * that a route has answered a disconnected page.
 */

/** Calls `act` once the response is sent, even if the page has disconnected: Medusa continues such a call. */
export function onEnd(res: MedusaResponse, act: () => unknown): void {
  const end = res.end.bind(res) as (...args: unknown[]) => typeof res;
  res.end = ((...args: unknown[]) => {
    try {
      return end(...args);
    } finally {
      void act();
    }
  }) as typeof res.end;
}

/** Sends what `replace` returns in place of the body. If it throws, the error is sent. */
export function replaceBody(res: MedusaResponse, next: MedusaNextFunction, replace: (body: unknown) => unknown): void {
  const json = res.json.bind(res);
  res.json = (body: unknown) => {
    res.json = json;
    // If something else has answered meanwhile, such as a timeout, this fails too. Nothing may be left unhandled.
    void Promise.resolve(body).then(replace).then(json).catch(next);
    return res;
  };
}
