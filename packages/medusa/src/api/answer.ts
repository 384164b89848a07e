import type { MedusaNextFunction, MedusaResponse } from "@medusajs/framework/http";

/** What is done with the answer of the route behind a middleware. */
export interface AnswerHandling {
  /** @returns what is sent in place of this body. What it throws is answered in its place */
  readonly replaceBody?: (body: unknown) => unknown;
  /** Called when the route has answered, also where the page has gone meanwhile: Medusa goes on with such a call. */
  readonly onEnd?: () => unknown;
}

/**
 * Handles the answer of the route behind a middleware. It replaces the response's own functions, since Express has no
 * other way to see an answer before it is sent, nor to hear that a route has answered a page that has gone.
 */
export function handleAnswer(
  res: MedusaResponse,
  next: MedusaNextFunction,
  { replaceBody, onEnd }: AnswerHandling,
): void {
  if (onEnd) {
    const end = res.end.bind(res) as (...args: unknown[]) => typeof res;
    res.end = ((...args: unknown[]) => {
      void onEnd();
      return end(...args);
    }) as typeof res.end;
  }
  if (replaceBody) {
    const json = res.json.bind(res);
    res.json = (body: unknown) => {
      res.json = json;
      // Where somebody else has answered meanwhile, such as a limit on time, this fails too: nothing may be left unhandled.
      void Promise.resolve(body).then(replaceBody).then(json).catch(next);
      return res;
    };
  }
}
