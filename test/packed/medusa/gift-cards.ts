/** A Medusa shop's own code with the packages' types: functions that read cards and orders. */

import type { Charge } from "@giftcard-pay/checkout/store";
import type { CartSummary } from "@giftcard-pay/checkout/storefront";
import { createClient, RefusedError } from "@giftcard-pay/client";
import { type PaidBy, readPaidBy } from "@giftcard-pay/medusa/paid-by";

export async function paidByBankCents(...order: Parameters<typeof readPaidBy>): Promise<number> {
  const paidBy: PaidBy | null = await readPaidBy(...order);
  return (paidBy?.others ?? []).reduce((sum, { amountCents }) => sum + amountCents, 0);
}

export const stateOf = ({ state }: Charge): string => state;
export const leftCents = ({ remainderCents }: CartSummary): number => remainderCents;

export async function balanceCents(cardNumber: string, pin: string): Promise<number | undefined> {
  const { GIFTCARD_BASE_URL: baseUrl = "", GIFTCARD_API_KEY: apiKey = "" } = process.env;
  try {
    const client = createClient({ baseUrl, apiKey, companyId: Number(process.env.GIFTCARD_COMPANY_ID) });
    return (await client.balance({ cardNumber, pin })).balanceCents;
  } catch (error) {
    if (error instanceof RefusedError) return undefined;
    throw error;
  }
}
