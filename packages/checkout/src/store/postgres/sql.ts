/** Runs one SQL statement with `$1` placeholders on PostgreSQL, commits it, and returns its rows. */
export type Sql = (text: string, params: unknown[]) => Promise<Record<string, unknown>[]>;
