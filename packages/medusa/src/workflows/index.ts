export { type CompletionRecord, completeWithGiftcards, undoCompletion } from "./completion.js";
