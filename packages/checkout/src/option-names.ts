/**
 * Refuses unknown names. Otherwise, in JavaScript, a misspelled option would keep its default.
 *
 * @param call the function that has the options
 * @param known the names of its options
 * @throws {TypeError} naming the unknown option
 */
export function checkNames(call: string, options: object, known: readonly string[]): void {
  for (const name of Object.keys(options ?? {}))
    if (!known.includes(name)) throw new TypeError(`${call}: unknown option ${name}.`);
}
