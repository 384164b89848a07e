import type { Answer } from "../../../packages/medusa/test/support/storefront.js";
import type { LivingCart, Round } from "./round.js";
import type { Actor, Step } from "./scenario.js";
import type { Stage } from "./stage.js";

/** The context of a step: who acts, in which round and on which cart. */
export interface Scene {
  readonly stage: Stage;
  readonly round: Round;
  readonly actor: Actor;
  readonly name: string;
  readonly cart: LivingCart;
  /** The order that an admin works on. */
  readonly orderId?: string;
}

/** Calls one of the Medusas and adds the answer to the round's log. @returns undefined if there was no answer */
export async function call(
  { stage, round, actor, name, cart, orderId }: Scene,
  step: Step,
  request: {
    method?: string;
    path: string;
    body?: unknown;
    what: string;
    medusa?: 0 | 1;
    gaveCents?: number;
  },
): Promise<Answer | undefined> {
  const { method = "POST", path, body, what, medusa = actor.medusa, gaveCents = 0 } = request;
  const begin = performance.now();
  const hadCards = cart.cardIds.length > 0;
  const sent = method === "POST" ? (body ?? {}) : undefined;
  const answer = await stage
    .medusa(medusa)
    .send(method, path, sent)
    .catch(() => undefined);
  const isRefused = answer !== undefined && answer.status >= 400;
  const hasCards = cart.cardIds.length > 0 && (!isRefused || (await hasAppliedCard(stage, cart)));
  const paid = stage.world.bank.paidPastShopCents(cart.id);
  round.entries.push({
    atMs: begin - round.startedAt,
    tookMs: performance.now() - begin,
    ...{ who: name, cart: cart.index, step: step.do, what, paidPastShopCents: paid, gaveCents },
    workedOnOrderId: orderId ?? null,
    hadCards: hadCards && hasCards,
    ...readAnswer(answer),
  });
  return answer;
}

/** Reads whether a card is on the cart. A shopper doesn't know if another click has just removed an empty one. */
async function hasAppliedCard({ world }: Stage, { id }: LivingCart): Promise<boolean> {
  const applied = "select 1 from giftcard_tender where cart_id = $1 and state = 'applied'";
  return (await world.shopBooks.query(applied, [id])).rows.length > 0;
}

function readAnswer(answer: Answer | undefined) {
  const body = answer?.body ?? {};
  const failure = answer && answer.status >= 400 ? body : (body.error ?? {});
  return {
    status: answer?.status ?? 0,
    type: body.type === "order" || body.type === "cart" ? body.type : null,
    code: (failure.code as string | undefined) ?? null,
    message: [failure.type, failure.message].filter(Boolean).join(": ") || null,
    orderId: (body.order?.id as string | undefined) ?? null,
  };
}

export const isDone = (answer: Answer | undefined) => answer !== undefined && answer.status < 300;
