import { randomUUID } from "node:crypto";
import type { ChargeState, Journal } from "@giftcard-pay/checkout/store";

/**
 * Holds a charge while what is missing of it in Medusa is done, so that two processes don't both do it.
 *
 * @param holdMs how long no other process does the same, should this one die
 * @returns false when another one holds it, or its state is another by now: then nothing was done
 */
export async function withHold(
  journal: Journal,
  { reference, state }: { readonly reference: string; readonly state: string },
  holdMs: number,
  job: () => Promise<unknown>,
): Promise<boolean> {
  const owner = `recovery_${randomUUID()}`;
  if (!(await journal.claim(reference, { owner, forMs: holdMs }, [state as ChargeState]))) return false;
  try {
    await job();
  } finally {
    // What failed is tried again in the next run, and is no charge that moves meanwhile.
    await journal.release(reference, owner).catch(() => {});
  }
  return true;
}
