import type { Journal } from "../store/journal.js";
import { SealError, type Sealer } from "./seal.js";

const BATCH = 200;

/** What stands sealed in the journal, by key. */
export interface SealReport {
  /** Living values by the id of the key that sealed them. */
  readonly counts: Readonly<Record<string, number>>;
  /** Living values that no configured key opens: money that can't be reversed until the key is there again. */
  readonly unopenable: number;
  /** The ids of the keys that are missing for those. */
  readonly missingKeyIds: readonly string[];
}

/** Counts what is sealed under which key. A shop must not start while `unopenable` isn't 0. */
export async function readSeals(journal: Journal, sealer: Sealer): Promise<SealReport> {
  const counts = await journal.sealCounts();
  const missingKeyIds = Object.keys(counts).filter((keyId) => !sealer.keyIds.includes(keyId));
  const unopenable = missingKeyIds.reduce((sum, keyId) => sum + (counts[keyId] ?? 0), 0);
  return { counts, unopenable, missingKeyIds };
}

/**
 * Seals every living value under the newest key, so that older keys can be taken out of the configuration. Safe beside
 * a shop that sells: a value that changes meanwhile stays as it became.
 *
 * @param onProgress hears how many were sealed anew so far
 * @returns how many were sealed anew
 * @throws {SealError} when a value can't be opened; those before it are done
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
        // Its time ran out between the reading and now: nothing opens it any more, and a purge deletes it.
        if (error instanceof SealError && error.fault === "expired") return null;
        throw error;
      });
      if (sealed !== null && (await journal.replaceSealed(value, sealed))) resealed += 1;
    }
    // Values that can't change any more (just run out) would come back for ever.
    if (resealed === before) return resealed;
    onProgress(resealed);
  }
}
