import { GiftcardError } from "@giftcard-pay/client";

/** What becomes of a failure that nobody waits for: an observer's, or that of one row of a recovery. */
export type OnFailure = (failure: unknown) => unknown;

/** A code is short and holds no blank; a message may quote what it failed with. */
export function codeOf(failure: unknown): string | null {
  const code = typeof failure === "object" && failure !== null && "code" in failure ? failure.code : null;
  return typeof code === "string" && /^\w{1,64}$/.test(code) ? code : null;
}

/** Without a shop's own: a line with the failure's name and code. A client's message is ours, and quotes nothing. */
function writeToConsole(failure: unknown): void {
  const name = failure instanceof Error ? failure.name : typeof failure;
  const message = failure instanceof GiftcardError ? failure.message : "";
  console.error(["giftcard-pay:", name, codeOf(failure) ?? "", message].join(" ").trimEnd());
}

/**
 * Makes what failures are reported to. It never throws, whatever the shop's function does.
 *
 * @param onFailure the shop's own. Default: a line on the console with the failure's name and code
 */
export function createReport(onFailure: OnFailure = writeToConsole): (failure: unknown) => void {
  return (failure) => {
    (async () => onFailure(failure))().catch(() => {});
  };
}

/**
 * Lets an observer hear of something without a say in it: what it throws, now or later, is reported, nobody waits for
 * it, and what it is given is a copy, which it may change, as a log does that blots out what is sealed.
 */
export function guardObserver<T extends object>(
  observer: ((told: T) => unknown) | undefined,
  report: (failure: unknown) => void,
): (told: T) => void {
  return (told) => {
    (async () => observer?.({ ...told }))().catch(report);
  };
}
