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
