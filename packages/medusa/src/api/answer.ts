import type { MedusaNextFunction, MedusaResponse } from "@medusajs/framework/http";

/**
 * Handles the response of the route behind a middleware. It replaces the response's own functions, since Express
 * offers no other way to see a response before it is sent, or to notice that a route has answered a disconnected
 * page.
 * @param handling.replaceBody returns the body to send instead. If it throws, the error is sent
 * @param handling.onEnd called once the response is sent, even if the page has disconnected: Medusa continues such a call
 */
export function handleAnswer(
  res: MedusaResponse,
  next: MedusaNextFunction,
  { replaceBody, onEnd }: { replaceBody?: (body: unknown) => unknown; onEnd?: () => unknown },
): void {
  if (onEnd) {
    const end = res.end.bind(res) as (...args: unknown[]) => typeof res;
    res.end = ((...args: unknown[]) => {
      try {
        return end(...args);
      } finally {
        void onEnd();
      }
    }) as typeof res.end;
  }
  if (replaceBody) {
    const json = res.json.bind(res);
    res.json = (body: unknown) => {
      res.json = json;
      // If something else has answered meanwhile, such as a timeout, this fails too. Nothing may be left unhandled.
      void Promise.resolve(body).then(replaceBody).then(json).catch(next);
      return res;
    };
  }
}
