/** What the command's exit codes mean; `--help` prints them. */
export const exitCodes = /** @type {const} */ ({
  done: 0,
  failed: 1,
  usage: 2,
  faultyRows: 3,
  unanswered: 4,
});

/** A failure whose message tells a person what to do, and holds no secret. It is shown as it is. */
export class Failure extends Error {
  /**
   * @param {string} message
   * @param {number} [exitCode] what the command ends with
   * @param {object} [details] what `--json` shows besides the message
   */
  constructor(message, exitCode = exitCodes.failed, details = {}) {
    super(message);
    this.exitCode = exitCode;
    this.details = details;
  }
}
