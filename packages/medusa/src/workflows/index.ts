export { completeWithGiftcards } from "../completion/complete.js";
export { type CompletionRecord, voidCompletion } from "../completion/void.js";
