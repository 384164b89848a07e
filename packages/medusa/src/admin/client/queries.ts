import type { Evidence, Health, Reconciliation, Statement } from "@giftcard-pay/checkout/operator";
import type { ReportFault } from "@giftcard-pay/checkout/plugin";
import type { ChargeState } from "@giftcard-pay/checkout/store";
import Medusa from "@medusajs/js-sdk";
import { toast } from "@medusajs/ui";
import { keepPreviousData, type UseQueryOptions, useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useEffect } from "react";
import type { showCharges } from "../../api/admin/giftcard-pay/admin-route.js";
import type { EuroRegion } from "../../api/admin/giftcard-pay/health/route.js";
import type { ProcessReport } from "../../context/processes.js";
import type { Sold } from "../../medusa-tables/bulk-refunds.js";
import type { FailingJob } from "../../recovery/failing-jobs.js";
import type { BulkRefundPlan, BulkRefundReport } from "../../refunds/bulk-store.js";
import type { SplitRefund } from "../../refunds/order-refund.js";
import type { OrderRefund } from "../../refunds/rest-refund.js";
import type { Reason } from "../../sentences.js";
import { useTexts } from "../i18n/use-texts.js";

/** Medusa's build of the admin defines these: the shop's address, and how people log in. */
declare const __BACKEND_URL__: string | undefined;
declare const __AUTH_TYPE__: "session" | "jwt" | undefined;
declare const __JWT_TOKEN_STORAGE_KEY__: string | undefined;

const baseUrl = __BACKEND_URL__ ?? "/";

/** Calls the shop as the person who is logged in, like the admin itself. */
const sdk = new Medusa({
  baseUrl,
  auth: {
    type: __AUTH_TYPE__ ?? "session",
    ...(__JWT_TOKEN_STORAGE_KEY__ && { jwtTokenStorageKey: __JWT_TOKEN_STORAGE_KEY__ }),
  },
});

/** A refused request: the reasons if the shop answered with codes. */
interface PostError extends Error {
  readonly reasons?: readonly Reason[];
}

/** Posts like `sdk.client.fetch`, whose errors have nothing but the message. @throws {PostError} */
async function post<T>(path: string, body?: object): Promise<T> {
  const token = await sdk.client.getToken();
  const response = await fetch(baseUrl.replace(/\/$/, "") + path, {
    method: "POST",
    credentials: "include",
    headers: { "content-type": "application/json", ...(token && { authorization: `Bearer ${token}` }) },
    ...(body && { body: JSON.stringify(body) }),
  });
  const answer = await response.json().catch(() => ({}));
  if (response.ok) return answer;
  throw Object.assign(new Error(answer.message ?? response.statusText), { reasons: answer.reasons });
}

/** A value after its way through JSON. */
export type Json<T> = T extends Date
  ? string
  : T extends number
    ? number
    : T extends object
      ? { [K in keyof T]: Json<T[K]> }
      : T;

export type ChargeRow = Json<Awaited<ReturnType<typeof showCharges>>["charges"][number]>;
export type JobRow = Json<FailingJob> & { orderName: string | null };
export type HealthView = Health & {
  failingJobs: number;
  regions: EuroRegion[];
  processes: ProcessReport;
};
export type BulkRefundRow = Json<BulkRefundReport>;
export type ActionRow = Json<Evidence["actions"][number]>;
export type StatementView = Statement & { orderNames: Record<string, string> };
export type ReconciliationView = Reconciliation & { orderNames: Record<string, string> };
export type Decision = "retry" | "mark-taken" | "mark-not-taken";

/** The titles of order lines, by their ids. */
export type LineTitles = Readonly<Record<string, string>>;

type RefundRequest =
  | (SplitRefund & { readonly captureCents: number; readonly isRest?: boolean })
  | { readonly amountCents: number; readonly isPaidOut: true };

type Titled = { readonly id: string; readonly title: string };

const KEY = "giftcard-pay";
const at = (path: string) => `/admin/giftcard-pay/${path}`;

type Query = Record<string, string | number>;
type ReadOptions<T> = Partial<Omit<UseQueryOptions<T>, "queryKey" | "queryFn">>;

function useRead<T>(url: string, query: Query = {}, options: ReadOptions<T> = {}) {
  return useQuery<T>({
    queryKey: [KEY, url, query],
    queryFn: () => sdk.client.fetch<T>(url, { query }),
    ...options,
  });
}

/** For posts whose answer their caller shows. */
const silent = { onSuccess: () => {} };

/**
 * Posts a person's decision, and announces that it is done. Then refetches the plugin's data, or everything if Medusa's own
 * parts of the page change.
 */
function usePost<T, R = unknown>(
  callOf: (what: T) => { path: string; body?: object },
  { onSuccess, changesMedusa = false }: { onSuccess?: (answer: R) => unknown; changesMedusa?: boolean } = {},
) {
  const queries = useQueryClient();
  const { t, why } = useTexts();
  return useMutation({
    mutationFn: (what: T) => {
      const { path, body } = callOf(what);
      return post<R>(at(path), body);
    },
    onSuccess: (answer) => void (onSuccess ? onSuccess(answer) : toast.success(t("common.done"))),
    onError: (error: PostError) => toast.error(error.reasons ? why(error.reasons) : error.message),
    onSettled: () => queries.invalidateQueries(changesMedusa ? {} : { queryKey: [KEY] }),
  });
}

/** Refetches the plugin's data as soon as Medusa's own parts of the page have changed something. */
export function useRefetchAfterChanges(): void {
  const queries = useQueryClient();
  useEffect(
    () =>
      queries.getMutationCache().subscribe((event) => {
        if (event.type === "updated" && event.action.type === "success")
          void queries.invalidateQueries({ queryKey: [KEY] });
      }),
    [queries],
  );
}

/** The most payments of a list without pages. */
const LIST_LIMIT = 100;

export const useHealth = () => useRead<HealthView>(at("health"), {}, { refetchInterval: 30_000 });

interface ChargeQuery {
  q?: string;
  states?: readonly ChargeState[] | undefined;
  /** Times in ISO 8601. */
  from?: string;
  to?: string;
  limit?: number;
  offset?: number;
}

/** Reads payments by card, newest first: the charges of those with a charge that matches. */
export const usePayments = ({ q, states, limit = LIST_LIMIT, ...others }: ChargeQuery) =>
  useRead<{ charges: ChargeRow[]; count: number }>(
    at("charges"),
    {
      ...{ by: "payment", order: "-created_at", limit, ...others },
      ...(q && { q }),
      ...(states && { state: states.join(",") }),
    },
    { placeholderData: keepPreviousData, refetchInterval: 15_000, retry: false },
  );

export const useCharge = (reference: string) =>
  useRead<{
    charge: ChargeRow;
    /** When the card was entered, and its balance read. */
    balanceBeforeAt: string;
    actions: ActionRow[];
    otherChargesOfCard: ChargeRow[];
    lineTitles: LineTitles;
  }>(at(`charges/${reference}`));

/** Reads an order's charges. Refetches them more often while a reversal is in progress. */
export const useOrderCharges = (orderId: string) =>
  useRead<{ environment: string; charges: ChargeRow[]; lineTitles: LineTitles }>(
    at(`orders/${orderId}`),
    {},
    {
      refetchInterval: ({ state }) =>
        state.data?.charges.some((charge) => charge.state === "reversing") ? 4_000 : 20_000,
    },
  );

export const useOrderRefund = (orderId: string) =>
  useRead<{ refund: OrderRefund }>(at(`orders/${orderId}/refund`), {}, { refetchInterval: 20_000 });

export function useRefundOrder(orderId: string) {
  const { t, money } = useTexts();
  type Refunded = { readonly amountCents: number; readonly isPaidOut?: true };
  return usePost<RefundRequest, { refunded: Refunded }>((body) => ({ path: `orders/${orderId}/refund`, body }), {
    onSuccess: ({ refunded: { amountCents, isPaidOut } }) =>
      toast.success(t(isPaidOut ? "refund.payoutDone" : "refund.done", { amount: money(amountCents) })),
    changesMedusa: true,
  });
}

export const useProducts = (title: string) =>
  useRead<{ products: (Titled & { variants: Titled[] })[] }>(
    "/admin/products",
    { limit: 8, fields: "id,title,variants.id,variants.title", ...(title !== "" && { q: title }) },
    { placeholderData: keepPreviousData },
  );

/** Plans a bulk refund. @param capture plans to capture first what isn't captured yet */
export const useRefundPlan = () =>
  usePost<{ sold: Sold; capture: boolean }, { plan: BulkRefundPlan }>(
    ({ sold, capture }) => ({ path: "refund-plan", body: { ...sold, capture } }),
    silent,
  );

export const useBeginBulkRefund = () =>
  usePost<BulkRefundPlan, { bulkRefund: BulkRefundRow }>(({ sold, title, amountCents, captureCents }) => ({
    path: "bulk-refunds",
    body: { sold, title, amountCents, captureCents },
  }));

/** Reads bulk refunds, newest first, and refetches them more often while one is open. */
export const useBulkRefunds = () =>
  useRead<{ bulkRefunds: BulkRefundRow[] }>(
    at("bulk-refunds"),
    {},
    {
      refetchInterval: ({ state }) =>
        state.data?.bulkRefunds.some((bulkRefund) => bulkRefund.open > 0) ? 1_000 : 30_000,
    },
  );

export const useDecideBulkRefundOrder = () =>
  usePost<{ bulkRefundId: string; orderId: string; decision: "retry" | "exempt" }>(
    ({ bulkRefundId, orderId, decision }) => ({
      path: `bulk-refunds/${bulkRefundId}/orders/${orderId}/${decision}`,
    }),
  );

export const useJobs = () => useRead<{ jobs: JobRow[]; count: number }>(at("jobs"), {}, { refetchInterval: 30_000 });

export const useDecideJob = () =>
  usePost<{ job: JobRow; decision: "retry" | "exempt" }>(({ job: { kind, id }, decision }) => ({
    path: `jobs/${kind}/${encodeURIComponent(id)}/${decision}`,
  }));

export const useStatement = (month: string) =>
  useRead<{ statement: StatementView; csv: string }>(
    at("statement"),
    { month },
    { placeholderData: keepPreviousData, retry: false },
  );

export const useReconciliation = () =>
  usePost<
    { from: string; to: string; report?: string },
    { reconciliation: ReconciliationView | null; reportFault: ReportFault | null }
  >((body) => ({ path: "reconciliation", body }), silent);

export const useDecision = () =>
  usePost<{ reference: string; decision: Decision }, { charge: Pick<ChargeRow, "state" | "lastFour"> }>(
    ({ reference, decision }) => ({ path: `charges/${reference}/${decision}` }),
    silent,
  );

export function useRecovery() {
  const { t } = useTexts();
  return usePost<void, { waiting: number }>(() => ({ path: "recover" }), {
    onSuccess: ({ waiting }) =>
      toast.info(waiting > 0 ? t("open.stillWaits", { count: waiting }) : t("open.noneWaits")),
  });
}
