/** A row of a result. */
export type Row = Record<string, unknown>;

/** A statement with `$1` placeholders, and its parameters. */
export type Statement = readonly [text: string, params: unknown[]];

/**
 * Runs one SQL statement with `$1` placeholders, commits it, and returns its rows.
 *
 * @param whenLost for an `Sql` that retries a statement if the connection is lost. A statement that finds nothing to change
 * when it is retried may have been committed by the lost attempt: this one then reads the rows that it wrote. `"ignore"`: the
 * statement must not run twice, and is not needed
 */
export type Sql = (text: string, params: unknown[], whenLost?: Statement | "ignore") => Promise<Row[]>;

/** A part of a write: it writes rows of `table`, or only selects rows. Later parts read its rows by its name. */
export interface Part {
  readonly name: string;
  readonly text: string;
  readonly table?: string;
}

/** A database with the tables of the store, and the SQL that is not the same in each database. */
export interface Database {
  readonly query: Sql;
  /**
   * Makes several changes in one atomic write, and returns the rows of `result`.
   *
   * PostgreSQL runs the parts as one statement, and SQLite one after another. So a part must not depend on whether it sees
   * the tables as they were before the other parts, or after them: only the rows of a part are the same by its name.
   */
  write(parts: readonly Part[], result: string, params: unknown[], whenLost?: Statement): Promise<Row[]>;
  /** Converts milliseconds, as a parameter or a number, to a duration that can be added to a time. */
  readonly ms: (value: string | number) => string;
  /** The condition that follows a column to compare it with a list, which is one parameter. */
  readonly anyOf: (param: string) => string;
  /** The condition that follows a column to compare it with the rows of a query, which is evaluated once. */
  readonly among: (select: string) => string;
  /** Ends a query whose rows stay locked until the write ends. */
  readonly forUpdate: string;
  /** As `forUpdate`, without the rows that another write has locked. */
  readonly skipLocked: string;
  /** The column that orders rows by their creation. */
  readonly sequence: string;
  /** The seconds until a time by the present clock, which may be later than `now()`. */
  readonly secondsUntil: (time: string) => string;
  /** The key id in the header of a sealed value. */
  readonly keyIdOf: (sealed: string) => string;
  /** A JSON list with one more object, of these names and expressions. */
  readonly append: (list: string, fields: string) => string;
}

/** Collects the parameters of a statement. `p` adds one, and returns its placeholder. */
export function newParams(...first: unknown[]) {
  const params = [...first];
  return { params, p: (value: unknown) => `$${params.push(value)}` };
}

/** PostgreSQL's code, and SQLite's codes of a unique index and of a primary key. */
const UNIQUE_VIOLATIONS: readonly unknown[] = ["23505", 2067, 1555];

/** Whether the database refused a statement because a row with this key exists already. */
export function isUniqueViolation(error: unknown): boolean {
  const { code, errcode } = (error ?? {}) as { code?: unknown; errcode?: unknown };
  return UNIQUE_VIOLATIONS.includes(code) || UNIQUE_VIOLATIONS.includes(errcode);
}
