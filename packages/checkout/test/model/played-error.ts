/** A failure that the model plays. The money flow may hand it on, but never makes one. */
export class PlayedError extends Error {
  override readonly name = "PlayedError";
  readonly by: "bank" | "database" | "observer";
  /** Told when nobody took the rejection: that would end the shop's process. */
  readonly onUnhandled: () => void;

  constructor(by: PlayedError["by"], onUnhandled: () => void = () => {}) {
    super(`played by the ${by}`);
    this.by = by;
    this.onUnhandled = onUnhandled;
  }
}

/** A promise that never settles. */
export const never = <T>(): Promise<T> => new Promise<T>(() => {});
