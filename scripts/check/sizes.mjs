/** Compares the packages' sizes with the recorded ones. */

/** Allows for another Node version's compression, and for small changes. */
const TOLERANCE = 0.03;
const TOLERANCE_KB = 2;

/**
 * @param {Record<string, number>} writtenKb by the packages' names
 * @param {Record<string, number>} sizesKb
 * @returns {string[]} the sizes that differ by more than the tolerance
 */
export function changedSizes(writtenKb, sizesKb) {
  return Object.entries(sizesKb).flatMap(([name, nowKb]) => {
    const beforeKb = writtenKb[name];
    if (beforeKb === undefined) return [`${name} has ${nowKb} kB, and nothing is written down.`];
    const isSame = Math.abs(nowKb - beforeKb) <= Math.max(TOLERANCE_KB, beforeKb * TOLERANCE);
    return isSame ? [] : [`${name} has ${nowKb} kB, and was ${beforeKb} kB.`];
  });
}
