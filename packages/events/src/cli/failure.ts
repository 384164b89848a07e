/** What the command's exit codes mean; `--help` prints them. */
export const exitCodes = { done: 0, failed: 1, usage: 2, faultyRows: 3, unanswered: 4 } as const;

/** A failure whose message tells a person what to do, and holds no secret. It is shown as it is. */
export class Failure extends Error {
  /** @param details what `--json` shows besides the message */
  constructor(
    message: string,
    readonly exitCode: number = exitCodes.failed,
    readonly details: object = {},
  ) {
    super(message);
  }
}
