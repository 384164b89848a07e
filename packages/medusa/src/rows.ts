import type { Sql } from "@giftcard-pay/checkout/plugin";

/** Runs a statement whose columns have the names and types of `T`'s properties. */
export const readRows = async <T>(sql: Sql, text: string, params: unknown[]): Promise<T[]> =>
  (await sql(text, params)) as unknown as T[];

/** Reads the first row of a statement like `readRows`; null if it has none. */
export const readRow = async <T>(sql: Sql, text: string, params: unknown[]): Promise<T | null> =>
  (await readRows<T>(sql, text, params))[0] ?? null;

/** Reads the only column of a statement, as texts. */
export const readTexts = async (sql: Sql, text: string, params: unknown[]): Promise<string[]> =>
  (await sql(text, params)).map((row) => String(Object.values(row)[0]));

export const readCount = async (sql: Sql, text: string, params: unknown[] = []): Promise<number> =>
  Number((await readTexts(sql, text, params))[0]);

export const hasRows = async (sql: Sql, text: string, params: unknown[]): Promise<boolean> =>
  (await sql(text, params)).length > 0;
