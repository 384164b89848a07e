/** Texts as SQL literals. Only for words of this package, such as states. */
export const sqlList = (texts: readonly string[]) => texts.map((text) => `'${text}'`).join(", ");
