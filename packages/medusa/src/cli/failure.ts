/** What ends a command: its message is for the operator, and holds no secret. */
export class CommandFailure extends Error {
  override readonly name = "CommandFailure";

  /** @param exitCode 1: it failed; 2: the command line or the settings are wrong */
  constructor(
    message: string,
    readonly exitCode: 1 | 2 = 1,
  ) {
    super(message);
  }
}
