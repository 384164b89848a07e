export const logLevels = ["info", "warn", "error", "silent"] as const;
/** The log level: a line for each call, only failures, or nothing. */
export type LogLevel = (typeof logLevels)[number];
