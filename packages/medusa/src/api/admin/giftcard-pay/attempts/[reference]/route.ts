import { MedusaError } from "@medusajs/framework/utils";
import { readOrderNames } from "../../../../../reports/books.js";
import { viewAction, viewAttempt } from "../../attempt-view.js";
import { adminRoute } from "../../desk.js";

/** One attempt with its evidence: what people did about it, and the shop's other movements on the same card. */
export const GET = adminRoute(async ({ giftcard, run, req }) => {
  const { journal } = giftcard.engine;
  const reference = String(req.params.reference);
  const attempt = await journal.attempt(reference);
  if (!attempt) throw new MedusaError(MedusaError.Types.NOT_FOUND, "There is no such attempt.");
  const [actions, sameCard, [tender]] = await Promise.all([
    journal.actions(reference),
    journal.attemptsOfCard(reference),
    run("select created_at from giftcard_tender where id = $1", [attempt.tenderId]),
  ]);
  const names = await readOrderNames(
    run,
    sameCard.flatMap(({ orderId }) => orderId ?? []),
  );
  return {
    attempt: viewAttempt(attempt, names),
    balanceBeforeAt: tender?.created_at as Date,
    actions: actions.map(viewAction),
    otherAttemptsOfCard: sameCard
      .filter((other) => other.reference !== reference)
      .map((other) => viewAttempt(other, names)),
  };
});
