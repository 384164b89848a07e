/** A failure that an operator can fix. Its message says how, and holds no secret. */
export class OperatorError extends Error {
  /**
   * @param exitCode the command's exit code, one of {@link exitCodes}
   * @param details added to the output of `--json`
   */
  constructor(
    message: string,
    readonly exitCode: number = exitCodes.failed,
    readonly details: Readonly<Record<string, unknown>> = {},
  ) {
    super(message);
    this.name = "OperatorError";
  }
}

/** The exit codes of the command line. `--help` explains them. */
export const exitCodes = {
  done: 0,
  failed: 1,
  usage: 2,
  notFound: 3,
  conflict: 4,
  databaseUnreachable: 5,
  secretsMismatch: 6,
  notMigrated: 7,
} as const;
