import type { Evidence, Health, Reconciliation, Statement } from "@giftcard-pay/checkout";
import type { ChargeState } from "@giftcard-pay/checkout/store";
import { toast } from "@medusajs/ui";
import { keepPreviousData, useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import type { showCharge } from "../../api/admin/giftcard-pay/charge-view.js";
import type { EventFilter } from "../../events/event-list.js";
import type { Sold } from "../../medusa-tables/sold-items.js";
import type { CancelStop } from "../../recovery/cancel-limit.js";
import type { Failing } from "../../recovery/failing-jobs.js";
import type { RefusedOrder } from "../../recovery/pending-cancellations.js";
import type { BulkRefundPlan, BulkRefundReport } from "../../refunds/bulk-store.js";
import type { OwedRefund, SplitRefund } from "../../refunds/order-refund.js";
import type { EuroRegion } from "../../reports/regions.js";
import { money } from "../components/texts.js";
import type { Json } from "./json.js";
import { sdk } from "./sdk.js";

export type ChargeRow = Json<ReturnType<typeof showCharge>>;
export type UnpaidOrderRow = Json<RefusedOrder> & { orderName: string | null };
export type JobRow = Json<Failing> & { orderName: string | null };
/** The health of the money flow, and of recovery. */
export type HealthView = Health & {
  failingJobs: number;
  unpaidOrders: number;
  cancelStop: Json<CancelStop> | null;
  /** How many of the shop's shows are how; null in a shop that sells none. */
  events: Record<EventFilter, number> | null;
  /** Those in euro. */
  regions: EuroRegion[];
};
export type BulkRefundRow = Json<BulkRefundReport>;
export type ActionRow = Json<Evidence["actions"][number]>;
export type StatementView = Statement & { orderNames: Record<string, string> };
export type ReconciliationView = Reconciliation & { orderNames: Record<string, string> };
/** What a person can do about a charge. */
export type Decision = "retry" | "mark-taken" | "mark-not-taken";

const KEY = "giftcard-pay";
const at = (path: string) => `/admin/giftcard-pay/${path}`;

export const useHealth = () =>
  useQuery({
    queryKey: [KEY, "health"],
    queryFn: () => sdk.client.fetch<HealthView>(at("health")),
    refetchInterval: 30_000,
  });

export interface ChargeQuery {
  states?: readonly ChargeState[] | undefined;
  limit: number;
  offset: number;
}

export const useCharges = ({ states, limit, offset }: ChargeQuery) =>
  useQuery({
    queryKey: [KEY, "charges", states, limit, offset],
    queryFn: () =>
      sdk.client.fetch<{ charges: ChargeRow[]; count: number }>(at("charges"), {
        query: { limit, offset, ...(states && { state: states.join(",") }) },
      }),
    placeholderData: keepPreviousData,
    refetchInterval: 15_000,
  });

export const useCharge = (reference: string) =>
  useQuery({
    queryKey: [KEY, "charge", reference],
    queryFn: () =>
      sdk.client.fetch<{
        charge: ChargeRow;
        /** When the card was entered, and its balance read. */
        balanceBeforeAt: string;
        actions: ActionRow[];
        otherChargesOfCard: ChargeRow[];
      }>(at(`charges/${reference}`)),
  });

/** Looks again by itself while money is on its way back. */
export const useOrderCharges = (orderId: string) =>
  useQuery({
    queryKey: [KEY, "order", orderId],
    queryFn: () => sdk.client.fetch<{ environment: string; charges: ChargeRow[] }>(at(`orders/${orderId}`)),
    refetchInterval: ({ state }) =>
      state.data?.charges.some((charge) => charge.state === "reversing") ? 4_000 : 20_000,
  });

/** What the order owes its customer, and what of it can go where. */
export const useOrderRefund = (orderId: string) =>
  useQuery({
    queryKey: [KEY, "refund", orderId],
    queryFn: () => sdk.client.fetch<{ refund: OwedRefund }>(at(`orders/${orderId}/refund`)),
    refetchInterval: 20_000,
  });

/** Gives back what an order owes, by the split that is shown; then Medusa's own parts of the page are read anew. */
export function useRefundOrder(orderId: string) {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: (split: SplitRefund) =>
      sdk.client.fetch<{ refunded: SplitRefund }>(at(`orders/${orderId}/refund`), {
        method: "POST",
        body: split,
      }),
    onSuccess: ({ refunded }) => toast.success(`${money(refunded.amountCents)} is refunded`),
    onError: (error) => toast.error(error.message),
    onSettled: () => queries.invalidateQueries(),
  });
}

/** Says what a refund by hand was for: units of a line, or none for a gesture. */
export function useExplainRefund(orderId: string) {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: ({ refundId, units }: { refundId: string; units: Record<string, number> }) =>
      sdk.client.fetch<{ refund: OwedRefund }>(at(`orders/${orderId}/refunds/${refundId}`), {
        method: "POST",
        body: { units },
      }),
    onError: (error) => toast.error(error.message),
    onSettled: () => queries.invalidateQueries(),
  });
}

/** Products on sale by their title, to choose one of them. */
export const useProducts = (title: string) =>
  useQuery({
    queryKey: [KEY, "products", title],
    queryFn: () =>
      sdk.client.fetch<{
        products: { id: string; title: string; variants: { id: string; title: string }[] }[];
      }>("/admin/products", {
        query: { limit: 8, fields: "id,title,variants.id,variants.title", ...(title !== "" && { q: title }) },
      }),
    placeholderData: keepPreviousData,
  });

/** What a refund of everything that was sold of something would do. */
export function useRefundPlan() {
  return useMutation({
    mutationFn: (sold: Sold) =>
      sdk.client.fetch<{ plan: BulkRefundPlan }>(at("refund-plan"), { method: "POST", body: sold }),
    onError: (error) => toast.error(error.message),
  });
}

/** Begins such a refund, as it was planned. */
export function useBeginRefundRun() {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: ({ sold, title, amountCents }: BulkRefundPlan) =>
      sdk.client.fetch<{ bulkRefund: BulkRefundRow }>(at("bulk-refunds"), {
        method: "POST",
        body: { sold, title, amountCents },
      }),
    onError: (error) => toast.error(error.message),
    onSettled: () => queries.invalidateQueries({ queryKey: [KEY] }),
  });
}

/** Refunds of many orders, the newest first; looked at again and again while one is under way. */
export const useRefundRuns = () =>
  useQuery({
    queryKey: [KEY, "bulk-refunds"],
    queryFn: () => sdk.client.fetch<{ bulkRefunds: BulkRefundRow[] }>(at("bulk-refunds")),
    refetchInterval: ({ state }) =>
      state.data?.bulkRefunds.some((bulkRefund) => bulkRefund.open > 0) ? 1_000 : 30_000,
  });

/** Tries an order of a bulk refund again, or leaves it as it is. */
export const useDecideRunOrder = () =>
  usePost<{ bulkRefundId: string; orderId: string; decision: "retry" | "keep" }>(
    ({ bulkRefundId, orderId, decision }) => `bulk-refunds/${bulkRefundId}/orders/${orderId}/${decision}`,
  );

export const useUnpaidOrders = () =>
  useQuery({
    queryKey: [KEY, "unpaid-orders"],
    queryFn: () => sdk.client.fetch<{ orders: UnpaidOrderRow[]; count: number }>(at("unpaid-orders")),
    refetchInterval: 30_000,
  });

/** What recovery fails to do, again and again. */
export const useJobs = () =>
  useQuery({
    queryKey: [KEY, "jobs"],
    queryFn: () => sdk.client.fetch<{ jobs: JobRow[]; count: number }>(at("jobs")),
    refetchInterval: 30_000,
  });

/** Posts what a person decides, and looks at everything anew. */
function usePost<T, R = unknown>(pathOf: (what: T) => string) {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: (what: T) => sdk.client.fetch<R>(at(pathOf(what)), { method: "POST" }),
    onError: (error) => toast.error(error.message),
    onSettled: () => queries.invalidateQueries({ queryKey: [KEY] }),
  });
}

const pathOfJob = ({ kind, id }: JobRow) => `jobs/${kind}/${encodeURIComponent(id)}`;

/** Tries a failing job now. */
export const useRetryJob = () => usePost<JobRow, { job: JobRow | null }>((job) => `${pathOfJob(job)}/retry`);

/** Leaves a failing job as it is. */
export const useKeepJob = () => usePost<JobRow>((job) => `${pathOfJob(job)}/keep`);

/** Lets an unpaid order stay as it is. */
export const useKeepOrder = () => usePost<string>((orderId) => `unpaid-orders/${orderId}/keep`);

/** Lets unpaid orders be canceled by themselves again. */
export const useResumeCancels = () => usePost<void>(() => "cancels/resume");

export const useStatement = (month: string, commission: string) =>
  useQuery({
    queryKey: [KEY, "statement", month, commission],
    queryFn: () =>
      sdk.client.fetch<{ statement: StatementView; csv: string }>(at("statement"), {
        query: { month, ...(commission !== "" && { commission }) },
      }),
    placeholderData: keepPreviousData,
    retry: false,
  });

export const useReconciliation = () =>
  useMutation({
    mutationFn: (body: { from: string; to: string; report?: string }) =>
      sdk.client.fetch<{ reconciliation: ReconciliationView }>(at("reconciliation"), {
        method: "POST",
        body,
      }),
    onError: (error) => toast.error(error.message),
  });

/** Runs a decision of the person who is logged in, and looks at everything anew. */
export const useDecision = () =>
  usePost<{ reference: string; decision: Decision }, { charge: ChargeRow }>(
    ({ reference, decision }) => `charges/${reference}/${decision}`,
  );

export function useRecovery() {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: () => sdk.client.fetch<{ charges: ChargeRow[] }>(at("recover"), { method: "POST" }),
    onSuccess: ({ charges }) =>
      toast.success(charges.length === 0 ? "Nothing was due" : `${charges.length} charges were looked at`),
    onError: (error) => toast.error(error.message),
    onSettled: () => queries.invalidateQueries({ queryKey: [KEY] }),
  });
}
