import { type AttemptListing, type AttemptState, attemptStates } from "@giftcard-pay/checkout";
import { readOrderNames } from "../../../../reports/books.js";
import { showAttempt } from "../attempt-view.js";
import { adminRoute, readNumber, readText } from "../desk.js";

const isState = (text: string): text is AttemptState => (attemptStates as readonly string[]).includes(text);

/** Lists attempts, what needs attention first: `?state=a,b&order_id=&from=&to=&limit=&offset=`. */
export const GET = adminRoute(async ({ giftcard, run, req }) => {
  const limit = readNumber(req, "limit", 20, 200);
  const offset = readNumber(req, "offset", 0, 1_000_000_000);
  const [state, orderId] = [readText(req, "state"), readText(req, "order_id")];
  const [from, to] = [readMoment("from", readText(req, "from")), readMoment("to", readText(req, "to"))];
  const filter: AttemptListing = {
    ...(state !== undefined && { states: readStates(state) }),
    ...(orderId !== undefined && { orderIds: [orderId] }),
    ...(from && { from }),
    ...(to && { to }),
    ...{ limit, offset },
  };
  const { attempts, count } = await giftcard.engine.journal.list(filter);
  const names = await readOrderNames(
    run,
    attempts.flatMap((attempt) => attempt.orderId ?? []),
  );
  return { attempts: attempts.map((attempt) => showAttempt(attempt, names)), count, limit, offset };
});

function readStates(text: string): AttemptState[] {
  return text.split(",").map((name) => {
    if (!isState(name)) throw new RangeError(`state is one or more of: ${attemptStates.join(", ")}.`);
    return name;
  });
}

function readMoment(name: string, text: string | undefined): Date | undefined {
  if (text === undefined) return undefined;
  const moment = new Date(text);
  if (Number.isNaN(moment.getTime())) throw new RangeError(`${name} is a time in ISO 8601.`);
  return moment;
}
