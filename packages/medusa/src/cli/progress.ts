const EVERY_MS = 1000;

/** Prints progress on standard error every second, once a command takes longer than a second. */
export function progressEachSecond(): (text: string) => void {
  let reportedAtMs = performance.now();
  return (text) => {
    if (performance.now() - reportedAtMs < EVERY_MS) return;
    reportedAtMs = performance.now();
    process.stderr.write(`${text}\n`);
  };
}
