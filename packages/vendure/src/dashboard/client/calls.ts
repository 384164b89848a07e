import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { api } from "@vendure/dashboard";

const KEY = "giftcard-pay";
const REFETCH_MS = 15_000;
/** As many as the Admin API returns at once. */
const MOST_ITEMS = 200;

/** A charge of a card. Amounts are in cents. */
export interface ChargeRow {
  readonly reference: string;
  readonly orderCode: string | null;
  readonly orderId?: string | null;
  readonly state: string;
  readonly lastFour: string;
  readonly amount: number;
  readonly reason: string | null;
  readonly tries: number;
  readonly createdAt: string;
  readonly stateChangedAt: string;
}

/** The payment of an order by cards and a remainder. */
export interface PurchaseRow {
  readonly orderCode: string;
  readonly orderId?: string | null;
  readonly state: string;
  readonly total: number;
  readonly remainder: number;
  readonly overcollected: number;
  readonly tries: number;
  readonly lastError: string | null;
}

export interface Evidence {
  readonly charge: ChargeRow;
  readonly balanceBefore: number | null;
  readonly balanceBeforeAt: string | null;
  readonly balanceAfter: number | null;
  readonly balanceAfterAt: string | null;
  readonly actions: readonly { readonly action: string; readonly actor: string; readonly createdAt: string }[];
  readonly otherChargesOfCard: readonly ChargeRow[];
}

/** A part of the answer of `giftcardHealth`. */
export interface HealthView {
  readonly environment: "live" | "sandbox";
  readonly service: {
    readonly isReachable: boolean;
    readonly isKeyValid: boolean | null;
    readonly fault: string | null;
  };
  readonly purchases: { readonly failing: number };
  readonly recovery: { readonly lastRunAt: string | null; readonly isLate: boolean };
}

/** How an order was paid. */
export interface OrderPayment {
  readonly order: {
    readonly giftcardPayment: {
      readonly state: string;
      readonly remainder: number;
      readonly cards: readonly { readonly lastFour: string; readonly amount: number; readonly refunded: number }[];
    } | null;
  } | null;
  readonly giftcardPurchase: PurchaseRow | null;
}

const CHARGE = "reference orderCode state lastFour amount reason tries createdAt stateChangedAt";
const PURCHASE = "orderCode state total remainder overcollected tries lastError";

function useRead<T>(name: string, document: string, variables: Record<string, unknown> = {}) {
  return useQuery<T>({
    queryKey: [KEY, name, variables],
    queryFn: () => api.query<T>(document, variables),
    refetchInterval: REFETCH_MS,
    retry: false,
  });
}

/** Runs a mutation. Then refetches everything that the page shows, also Vendure's own parts of it. */
function useWrite<T>(name: string, parameter: string, result = "", onDone?: (done: T) => void) {
  const queries = useQueryClient();
  const document = `mutation ($value: String!) { done: ${name}(${parameter}: $value) ${result} }`;
  return useMutation({
    mutationFn: async (value: string) => ((await api.mutate(document)({ value })) as { done: T }).done,
    // Not a callback of `mutate`: the row that called it may be gone when its list is refetched.
    onSuccess: onDone,
    onSettled: () => queries.invalidateQueries(),
  });
}

export const useHealth = () => useRead<{ giftcardHealth: HealthView }>("health", "{ giftcardHealth }");

export const useChargesThatNeedAttention = () =>
  useRead<{ giftcardCharges: { items: ChargeRow[]; totalItems: number } }>(
    "attention",
    `query ($options: GiftcardChargeOptions) { giftcardCharges(options: $options) { totalItems items { orderId ${CHARGE} } } }`,
    { options: { states: ["needs_attention"], take: MOST_ITEMS } },
  );

export const useEvidence = (reference: string) =>
  useRead<{ giftcardEvidence: Evidence | null }>(
    "evidence",
    `query ($reference: String!) { giftcardEvidence(reference: $reference) {
      charge { ${CHARGE} } balanceBefore balanceBeforeAt balanceAfter balanceAfterAt
      actions { action actor createdAt } otherChargesOfCard { ${CHARGE} }
    } }`,
    { reference },
  );

export const usePurchases = () =>
  useRead<{ giftcardPurchases: { items: PurchaseRow[]; totalItems: number } }>(
    "purchases",
    `{ giftcardPurchases(take: ${MOST_ITEMS}) { totalItems items { orderId ${PURCHASE} } } }`,
  );

export const useOrderPayment = (id: string, code: string) =>
  useRead<OrderPayment>(
    "order",
    `query ($id: ID!, $code: String!) {
      order(id: $id) { giftcardPayment { state remainder cards { lastFour amount refunded } } }
      giftcardPurchase(orderCode: $code) { ${PURCHASE} }
    }`,
    { id, code },
  );

const mutations = {
  retry: "retryGiftcardCharge",
  "mark-not-taken": "markGiftcardChargeNotTaken",
  "mark-taken": "markGiftcardChargeTaken",
};

export type Decision = keyof typeof mutations;

/** Records a person's decision. The result is null if the charge needs none any more. */
export const useDecision = (decision: Decision, onDone: (charge: { state: string } | null) => void) =>
  useWrite(mutations[decision], "reference", "{ state }", onDone);

/** Retries an unsettled payment. The result is null if it is settled or in progress. */
export const useRetryPurchase = () =>
  useWrite<{ state: string } | null>("retryGiftcardPurchase", "orderCode", "{ state }");

/** Records that a remainder was settled elsewhere. The result is null if nothing is being returned. */
export const useMarkRemainderSettled = () =>
  useWrite<{ state: string } | null>("markGiftcardRemainderSettled", "orderCode", "{ state }");

/** Refunds what was collected beyond an order's total. The result is the refunded amount. */
export const useRefundOvercollection = () => useWrite<number>("refundGiftcardOvercollection", "orderCode");
