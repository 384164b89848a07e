import { GiftcardError } from "@giftcard-pay/client";

/** Receives failures that no caller waits for, such as an observer's, or of one charge during recovery. */
export type OnFailure = (failure: unknown) => unknown;

/** Returns an error's code, if it is a single short word: a longer text may quote what failed. */
export function codeOf(failure: unknown): string | null {
  const code = typeof failure === "object" && failure !== null && "code" in failure ? failure.code : null;
  return typeof code === "string" && /^\w{1,64}$/.test(code) ? code : null;
}

/** Logs a failure's name and code. The message only of the client's errors, which quote nothing. */
function writeToConsole(failure: unknown): void {
  const name = failure instanceof Error ? failure.name : typeof failure;
  const message = failure instanceof GiftcardError ? failure.message : "";
  console.error(["giftcard-pay:", name, codeOf(failure) ?? "", message].join(" ").trimEnd());
}

/**
 * Makes the function that failures are reported to. It never throws, even if the shop's own function does.
 *
 * @param onFailure the shop's function. Default: logs the failure's name and code to the console
 */
export function createReport(onFailure: OnFailure = writeToConsole): (failure: unknown) => void {
  return (failure) => {
    (async () => onFailure(failure))().catch(() => {});
  };
}

/**
 * Wraps an observer so that it can't affect the flow: nobody waits for it, and its errors are reported. It gets a copy,
 * which it may change, for example to redact sealed values for a log.
 */
export function guardObserver<T extends object>(
  observer: ((observed: T) => unknown) | undefined,
  report: (failure: unknown) => void,
): (observed: T) => void {
  return (observed) => {
    (async () => observer?.({ ...observed }))().catch(report);
  };
}
