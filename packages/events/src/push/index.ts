export {
  type CreateResult,
  createEvents,
  type EventVerdict,
  isUnanswered,
  isUnsent,
} from "./create-events.js";
