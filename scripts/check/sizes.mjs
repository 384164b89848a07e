/** Whether packages weigh what is written down. */

/** Another Node compresses a little otherwise, and a line more is no news. */
const TOLERANCE = 0.03;
const TOLERANCE_KB = 2;

/**
 * @param {Record<string, number>} writtenKb by the packages' names
 * @param {Record<string, number>} sizesKb
 * @returns {string[]} what differs by more than the tolerance
 */
export function changedSizes(writtenKb, sizesKb) {
  return Object.entries(sizesKb).flatMap(([name, nowKb]) => {
    const beforeKb = writtenKb[name];
    if (beforeKb === undefined) return [`${name} has ${nowKb} kB, and nothing is written down.`];
    const isSame = Math.abs(nowKb - beforeKb) <= Math.max(TOLERANCE_KB, beforeKb * TOLERANCE);
    return isSame ? [] : [`${name} has ${nowKb} kB, and was ${beforeKb} kB.`];
  });
}
