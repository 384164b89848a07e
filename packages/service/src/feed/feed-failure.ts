import { exitCodes, OperatorError } from "../operator-error.js";

/** A feed that can't be had, or can't be used. Nothing was changed. */
export class FeedFailure extends OperatorError {
  /** How long its server asks to be left alone. */
  readonly retryAfterSeconds: number | undefined;

  /** @param what goes on "the feed …" */
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
