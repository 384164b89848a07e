import type { AttemptState, Evidence, Health, Reconciliation, Statement } from "@giftcard-pay/checkout";
import { toast } from "@medusajs/ui";
import { keepPreviousData, useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import type { showAttempt } from "../../api/admin/giftcard-pay/attempt-view.js";
import type { RefusedOrder } from "../../workflows/unended-orders.js";
import { sdk } from "./sdk.js";

/** What becomes of a value on its way through JSON. */
type Json<T> = T extends Date
  ? string
  : T extends number
    ? number
    : T extends object
      ? { [K in keyof T]: Json<T[K]> }
      : T;

export type AttemptRow = Json<ReturnType<typeof showAttempt>>;
export type UnpaidOrderRow = Json<RefusedOrder> & { orderName: string | null };
export type ActionRow = Json<Evidence["actions"][number]>;
export type StatementView = Statement & { orderNames: Record<string, string> };
export type ReconciliationView = Reconciliation & { orderNames: Record<string, string> };
/** What a person can do about an attempt. */
export type Decision = "retry" | "mark-taken" | "mark-not-taken";

const KEY = "giftcard-pay";
const at = (path: string) => `/admin/giftcard-pay/${path}`;

export const useHealth = () =>
  useQuery({
    queryKey: [KEY, "health"],
    queryFn: () => sdk.client.fetch<Health>(at("health")),
    refetchInterval: 30_000,
  });

export interface AttemptQuery {
  states?: readonly AttemptState[] | undefined;
  limit: number;
  offset: number;
}

export const useAttempts = ({ states, limit, offset }: AttemptQuery) =>
  useQuery({
    queryKey: [KEY, "attempts", states, limit, offset],
    queryFn: () =>
      sdk.client.fetch<{ attempts: AttemptRow[]; count: number }>(at("attempts"), {
        query: { limit, offset, ...(states && { state: states.join(",") }) },
      }),
    placeholderData: keepPreviousData,
    refetchInterval: 15_000,
  });

export const useAttempt = (reference: string) =>
  useQuery({
    queryKey: [KEY, "attempt", reference],
    queryFn: () =>
      sdk.client.fetch<{
        attempt: AttemptRow;
        /** When the card was entered, and its balance read. */
        balanceBeforeAt: string;
        actions: ActionRow[];
        otherAttemptsOfCard: AttemptRow[];
      }>(at(`attempts/${reference}`)),
  });

/** Looks again by itself while money is on its way back. */
export const useOrderAttempts = (orderId: string) =>
  useQuery({
    queryKey: [KEY, "order", orderId],
    queryFn: () => sdk.client.fetch<{ environment: string; attempts: AttemptRow[] }>(at(`orders/${orderId}`)),
    refetchInterval: ({ state }) =>
      state.data?.attempts.some((attempt) => attempt.state === "reversing") ? 4_000 : 20_000,
  });

export const useUnpaidOrders = () =>
  useQuery({
    queryKey: [KEY, "unpaid-orders"],
    queryFn: () => sdk.client.fetch<{ orders: UnpaidOrderRow[] }>(at("unpaid-orders")),
    refetchInterval: 30_000,
  });

/** Lets an unpaid order stay as it is. */
export function useKeepOrder() {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: (orderId: string) =>
      sdk.client.fetch(at(`unpaid-orders/${orderId}/keep`), { method: "POST" }),
    onError: (error) => toast.error(error.message),
    onSettled: () => queries.invalidateQueries({ queryKey: [KEY] }),
  });
}

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
export function useDecision() {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: ({ reference, decision }: { reference: string; decision: Decision }) =>
      sdk.client.fetch<{ attempt: AttemptRow }>(at(`attempts/${reference}/${decision}`), { method: "POST" }),
    onError: (error) => toast.error(error.message),
    onSettled: () => queries.invalidateQueries({ queryKey: [KEY] }),
  });
}

export function useRecovery() {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: () => sdk.client.fetch<{ attempts: AttemptRow[] }>(at("recover"), { method: "POST" }),
    onSuccess: ({ attempts }) =>
      toast.success(attempts.length === 0 ? "Nothing was due" : `${attempts.length} charges were looked at`),
    onError: (error) => toast.error(error.message),
    onSettled: () => queries.invalidateQueries({ queryKey: [KEY] }),
  });
}
