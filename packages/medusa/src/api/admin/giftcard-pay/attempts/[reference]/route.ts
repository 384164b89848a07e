import { MedusaError } from "@medusajs/framework/utils";
import { readOrderNames } from "../../../../../reports/books.js";
import { showAttempt } from "../../attempt-view.js";
import { adminRoute } from "../../desk.js";

/** One attempt with its evidence: what people did about it, and the shop's other movements on the same card. */
export const GET = adminRoute(async ({ giftcard, run, req }) => {
  const evidence = await giftcard.engine.evidence(String(req.params.reference));
  if (!evidence) throw new MedusaError(MedusaError.Types.NOT_FOUND, "There is no such attempt.");
  const { attempt, otherAttemptsOfCard: others, ...rest } = evidence;
  const names = await readOrderNames(
    run,
    [attempt, ...others].flatMap(({ orderId }) => orderId ?? []),
  );
  return {
    ...rest,
    attempt: showAttempt(attempt, names),
    otherAttemptsOfCard: others.map((other) => showAttempt(other, names)),
  };
});
