/** A random sample of a file's mutants. */
import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";

// Stryker brings its instrumenter. It is not a dependency of ours.
const require = createRequire(createRequire(import.meta.url).resolve("@stryker-mutator/core/package.json"));
const { Instrumenter } = await import(pathToFileURL(require.resolve("@stryker-mutator/instrumenter")).href);

const logger = { debug() {}, info() {}, warn() {}, isDebugEnabled: () => false };

/**
 * Picks mutants at random.
 *
 * @param {string} file its path
 * @param {number} count how many
 * @returns {Promise<string[]>} their places, as Stryker's `--mutate` takes them
 */
export async function sampleOf(file, count) {
  const source = { name: file, mutate: true, content: await readFile(file, "utf8") };
  const options = { plugins: null, excludedMutations: [], ignorers: [] };
  /** @type {{ mutants: { location: Location }[] }} */
  const { mutants } = await new Instrumenter(logger).instrument([source], options);
  // Stryker mutates everything inside a place, so take only places that contain no other.
  const innermost = mutants.filter(
    ({ location }) => !mutants.some((other) => other.location !== location && contains(location, other.location)),
  );
  const places = innermost.map(({ location: { start, end } }) => {
    // Stryker counts lines from 0 here, and from 1 in its options.
    return `${start.line + 1}:${start.column}-${end.line + 1}:${end.column}`;
  });
  const shuffled = [...new Set(places)].map((place) => ({ place, order: Math.random() }));
  shuffled.sort((a, b) => a.order - b.order);
  return shuffled.slice(0, count).map(({ place }) => `${file}:${place}`);
}

/** @typedef {{ line: number, column: number }} Position */
/** @typedef {{ start: Position, end: Position }} Location */

/** Whether a place contains another, different one. @param {Location} outer @param {Location} inner */
function contains(outer, inner) {
  const isBefore = (/** @type {Position} */ a, /** @type {Position} */ b) =>
    a.line < b.line || (a.line === b.line && a.column <= b.column);
  const isWithin = isBefore(outer.start, inner.start) && isBefore(inner.end, outer.end);
  return isWithin && !(isBefore(inner.start, outer.start) && isBefore(outer.end, inner.end));
}
