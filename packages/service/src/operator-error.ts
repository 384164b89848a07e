/** A fault that the operator can mend: its message says how, and holds no secret. It is shown as it is. */
export class OperatorError extends Error {
  /**
   * @param exitCode what the command ends with; the meanings stand in {@link exitCodes}
   * @param details what `--json` shows besides the message
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

/** What the command's exit codes mean; `--help` prints this. */
export const exitCodes = {
  done: 0,
  failed: 1,
  usage: 2,
  notFound: 3,
  conflict: 4,
  databaseUnreachable: 5,
  secretsMismatch: 6,
  notMigrated: 7,
  held: 8,
} as const;
