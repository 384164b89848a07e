/** A value after it went through JSON. */
export type Json<T> = T extends Date
  ? string
  : T extends number
    ? number
    : T extends object
      ? { [K in keyof T]: Json<T[K]> }
      : T;
