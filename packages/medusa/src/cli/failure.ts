/** The failure of a command. Its message is for the operator, and contains no secret. */
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
