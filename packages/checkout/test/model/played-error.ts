/** A simulated failure. The library may pass it on, but never creates one. */
export class PlayedError extends Error {
  override readonly name = "PlayedError";
  readonly by: "bank" | "database" | "observer";
  /** Called if nobody handles the rejection, which would end the shop's process. */
  readonly onUnhandled: () => void;

  constructor(by: PlayedError["by"], onUnhandled: () => void = () => {}) {
    super(`played by the ${by}`);
    this.by = by;
    this.onUnhandled = onUnhandled;
  }
}

/** Returns a promise that never settles. */
export const never = <T>(): Promise<T> => new Promise<T>(() => {});
