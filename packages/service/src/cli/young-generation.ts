import v8 from "node:v8";

/** Where the growth ends: what V8 itself took for enough until Node 22. */
const MAX_BYTES = 32 * 1024 * 1024;
const LOOK_EVERY_MS = 100;

/**
 * Keeps V8 from doubling the room for young objects once more, at the first busy moment of any day: tens of megabytes
 * that it never gives back, buy nothing here, and look like a leak.
 */
export function boundYoungGeneration(): void {
  const timer = setInterval(() => {
    const space = v8.getHeapSpaceStatistics().find(({ space_name: name }) => name === "new_space");
    if (!space || space.space_size < MAX_BYTES) return;
    // The limit itself is read at start-up only, and from the command line; how much is added each time is read anew.
    v8.setFlagsFromString("--semi-space-growth-factor=1");
    clearInterval(timer);
  }, LOOK_EVERY_MS);
  timer.unref();
}
