export const logLevels = ["info", "warn", "error", "silent"] as const;
/** How much is logged: a line for every call, for failures alone, or nothing. */
export type LogLevel = (typeof logLevels)[number];
