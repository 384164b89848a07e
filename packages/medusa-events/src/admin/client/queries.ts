import Medusa from "@medusajs/js-sdk";
import { toast } from "@medusajs/ui";
import { keepPreviousData, useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import type { ProductEvents as ProductAnswer } from "../../api/admin/giftcard-pay/events/products/[id]/route.js";
import type { EventFilter, EventView } from "../../events/event-list.js";
import type { Published } from "../../issuer/push.js";
import type { DetailsInput } from "../../shows/show-store.js";

/** Constants that Medusa's build of the admin defines. */
declare const __BACKEND_URL__: string | undefined;
declare const __AUTH_TYPE__: "session" | "jwt" | undefined;
declare const __JWT_TOKEN_STORAGE_KEY__: string | undefined;

/** Calls the shop as the person who is logged in, as the admin itself does. */
const sdk = new Medusa({
  baseUrl: __BACKEND_URL__ ?? "/",
  auth: {
    type: __AUTH_TYPE__ ?? "session",
    ...(__JWT_TOKEN_STORAGE_KEY__ && { jwtTokenStorageKey: __JWT_TOKEN_STORAGE_KEY__ }),
  },
});

/** A value after it went through JSON. */
type Json<T> = T extends Date
  ? string
  : T extends number
    ? number
    : T extends object
      ? { [K in keyof T]: Json<T[K]> }
      : T;

export type EventRow = Json<EventView>;
export type { DetailsInput, EventFilter };

/** A product's show and events. */
export type ProductEvents = Json<ProductAnswer>;

/** A page of the list of events. */
export interface EventList {
  readonly environment?: string;
  readonly isAutomatic: boolean;
  readonly counts: Readonly<Record<EventFilter, number>>;
  readonly events: readonly EventRow[];
  readonly count: number;
}

const KEY = "giftcard-events";
const at = (path: string) => `/admin/giftcard-pay/events${path}`;

/** Refetches often while an event is on its way to the issuer. */
const intervalOf = (data: { readonly events: readonly EventRow[] } | undefined): number =>
  data?.events.some(({ delivery: { state } }) => state === "pending" || state === "sending") ? 3_000 : 20_000;

export const useProductEvents = (productId: string) =>
  useQuery({
    queryKey: [KEY, "product", productId],
    queryFn: () => sdk.client.fetch<ProductEvents>(at(`/products/${productId}`)),
    refetchInterval: ({ state: { data } }) => intervalOf(data),
  });

export const useEventList = (query: { filter: EventFilter; q: string; limit: number; offset: number }) =>
  useQuery({
    queryKey: [KEY, "list", query],
    queryFn: () => sdk.client.fetch<EventList>(at(""), { query }),
    placeholderData: keepPreviousData,
    refetchInterval: ({ state: { data } }) => intervalOf(data),
  });

/** The issuer's ticketing providers. */
export const useIssuer = () =>
  useQuery({
    queryKey: [KEY, "issuer"],
    queryFn: () => sdk.client.fetch<{ providers: { id: number; name: string }[] }>(at("/issuer")),
    retry: false,
  });

/** Posts a body, and refetches all events. */
function usePost<Body extends object, Answer>(path: string) {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: (body: Body) => sdk.client.fetch<Answer>(at(path), { method: "POST", body }),
    onError: (error) => toast.error(error.message),
    onSettled: () => queries.invalidateQueries({ queryKey: [KEY] }),
  });
}

export const useSaveShow = (productId: string) =>
  usePost<{ version: number; details: DetailsInput }, ProductEvents>(`/products/${productId}`);

/** Publishes some events, or all complete ones. */
export const usePublish = () => usePost<{ keys: readonly string[] } | { all: true }, Published>("/publish");

export const useRetract = () =>
  usePost<{ keys: readonly string[]; state: "canceled" | "withdrawn" }, { retracted: string[] }>("/retract");

/** Compares the events with the issuer's list. */
export const useCompare = () => usePost<Record<string, never>, { compared: number; changed: string[] }>("/compare");
