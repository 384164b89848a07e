/** Formats texts as SQL literals. They are not escaped: only for constants such as states. */
export const sqlList = (texts: readonly string[]) => texts.map((text) => `'${text}'`).join(", ");
