export {
  type CreateResult,
  createEvents,
  type EventVerdict,
  isUnanswered,
  isUnsent,
} from "./create-events.js";
export { type Outcome, type PushOptions, pushEvents, type Result } from "./push-events.js";
