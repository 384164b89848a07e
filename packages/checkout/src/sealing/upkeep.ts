import type { Journal } from "../store/journal.js";
import { SealError, type Sealer } from "./seal.js";

const BATCH = 200;

/** The sealed values in the journal, by key. */
export interface SealReport {
  /** The number of values that are still needed, by the id of their key. */
  readonly counts: Readonly<Record<string, number>>;
  /** The number of values that no configured key opens: charges that can't be reversed until the key is configured again. */
  readonly unopenable: number;
  /** The ids of the missing keys. */
  readonly missingKeyIds: readonly string[];
}

/** Counts sealed values by key. A shop must not start unless `unopenable` is 0. */
export async function readSeals(journal: Journal, sealer: Sealer): Promise<SealReport> {
  const counts = await journal.sealCounts();
  const missingKeyIds = Object.keys(counts).filter((keyId) => !sealer.keyIds.includes(keyId));
  const unopenable = missingKeyIds.reduce((sum, keyId) => sum + (counts[keyId] ?? 0), 0);
  return { counts, unopenable, missingKeyIds };
}

/**
 * Seals all values that are still needed under the newest key, so that older keys can be removed from the configuration. The
 * shop can sell meanwhile: values that change concurrently are not overwritten.
 *
 * @param onProgress called with the number of resealed values so far
 * @returns the number of resealed values
 * @throws {SealError} if a value can't be opened; those before it are resealed
 */
export async function resealAll(
  journal: Journal,
  sealer: Sealer,
  onProgress: (resealed: number) => void = () => {},
): Promise<number> {
  let resealed = 0;
  for (;;) {
    const values = await journal.sealedUnderOther(sealer.newestKeyId, BATCH);
    const before = resealed;
    for (const value of values) {
      const sealed = await sealer.reseal(value.sealed).catch((error: unknown) => {
        // It has expired since it was read. A purge will delete it.
        if (error instanceof SealError && error.fault === "expired") return null;
        throw error;
      });
      if (sealed !== null && (await journal.replaceSealed(value, sealed))) resealed += 1;
    }
    // Values that have just expired are never replaced, and would be read forever.
    if (resealed === before) return resealed;
    onProgress(resealed);
  }
}
