import { exitCodes, OperatorError } from "../operator-error.js";

/** A feed that cannot be fetched or used. Nothing was changed. */
export class FeedFailure extends OperatorError {
  /** How long the server asks to wait. */
  readonly retryAfterSeconds: number | undefined;

  /** @param what completes the sentence "the feed …" */
  constructor(
    what: string,
    {
      exitCode = exitCodes.failed,
      details = {},
      retryAfterSeconds,
    }: { exitCode?: number; details?: object; retryAfterSeconds?: number | undefined } = {},
  ) {
    super(`Nothing was changed: the feed ${what}`, exitCode, { ...details });
    this.name = "FeedFailure";
    this.retryAfterSeconds = retryAfterSeconds;
  }
}
