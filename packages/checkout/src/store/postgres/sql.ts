/** A statement with `$1` placeholders, and its parameters. */
export type Statement = readonly [text: string, params: unknown[]];

/**
 * Runs one SQL statement with `$1` placeholders on PostgreSQL, commits it, and returns its rows.
 *
 * @param whenLost for an `Sql` that retries a statement if the connection is lost. A statement that finds nothing to change
 * when it is retried may have been committed by the lost attempt: this one then reads the rows that it wrote. `"ignore"`: the
 * statement must not run twice, and is not needed
 */
export type Sql = (
  text: string,
  params: unknown[],
  whenLost?: Statement | "ignore",
) => Promise<Record<string, unknown>[]>;

/** Converts a parameter in milliseconds to an interval. @param param such as `$1` */
export const sqlInterval = (param: string) => `(${param}::float8 * interval '1 millisecond')`;

/** Whether PostgreSQL refused a statement because a row with this key exists already. */
export const isUniqueViolation = (error: unknown): boolean => (error as { code?: unknown } | null)?.code === "23505";
