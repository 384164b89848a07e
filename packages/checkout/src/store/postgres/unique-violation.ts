/** Whether PostgreSQL refused a statement because a row with this key exists already. */
export const isUniqueViolation = (error: unknown): boolean => (error as { code?: unknown } | null)?.code === "23505";
