/** Records where the time of a test run goes, for `npm test -- --times`: one line of JSON per started process and test file. */
import { appendFileSync, readFileSync } from "node:fs";

/** Linux counts processor time in hundredths of a second. */
const TICKS_PER_SECOND = 100;

/**
 * Appends a record if `GIFTCARD_TEST_TIMES` names a file.
 * @param {{ process: string, ms: number } | { file: string, cpuSeconds: number | undefined }} record
 */
export function recordTime(record) {
  const file = process.env.GIFTCARD_TEST_TIMES;
  if (file) appendFileSync(file, `${JSON.stringify(record)}\n`);
}

/**
 * Returns the processor time that a process and its ended children have used.
 * @param {number | "self"} pid
 * @returns {number | undefined} seconds; undefined where there is no /proc
 */
export function readCpuSeconds(pid) {
  try {
    const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1]?.split(" ") ?? [];
    // utime, stime, and those of the children that were waited for.
    return fields.slice(11, 15).reduce((sum, ticks) => sum + Number(ticks), 0) / TICKS_PER_SECOND;
  } catch {
    return undefined;
  }
}
