/** The exports for the adapter of a payment method that collects remainders. */
export {
  type Authorizing,
  type RemainderAnswer,
  type RemainderData,
  RemainderFault,
  type RemainderMethod,
  type RemainderNotice,
  type RemainderPart,
  type RemainderRequest,
} from "./purchase/remainder.js";
export { ForeignWebhook } from "./purchase/webhook.js";
