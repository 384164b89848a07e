const FOUND = 500;

/**
 * Reads a list to its end, page by page.
 *
 * @param read what stands behind this key, in the keys' order, at most `limit`
 */
export async function everyPage<T>(
  read: (after: string, limit: number) => Promise<T[]>,
  keyOf: (one: T) => string,
): Promise<T[]> {
  const all: T[] = [];
  for (let after = ""; ; ) {
    const page = await read(after, FOUND);
    all.push(...page);
    const last = page.at(-1);
    if (!last || page.length < FOUND) return all;
    after = keyOf(last);
  }
}
