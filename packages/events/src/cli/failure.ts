/** The exit codes. `--help` prints their meaning. */
export const exitCodes = { done: 0, failed: 1, usage: 2, faultyRows: 3, unanswered: 4 } as const;

/** A failure whose message tells the user what to do. It contains no secret. */
export class Failure extends Error {
  /** @param details further properties of the JSON output */
  constructor(
    message: string,
    readonly exitCode: number = exitCodes.failed,
    readonly details: object = {},
  ) {
    super(message);
  }
}
