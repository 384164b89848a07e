import { toast } from "@medusajs/ui";
import { keepPreviousData, useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import type { EventFilter, EventView } from "../../events/event-list.js";
import type { Published } from "../../events/publish.js";
import type { DetailsInput } from "../../events/show-details.js";
import type { Show } from "../../events/show-store.js";
import type { Json } from "./json.js";
import { sdk } from "./sdk.js";

export type EventRow = Json<EventView>;
export type { DetailsInput, EventFilter };

/** What a product's page shows of it as an event. */
export interface ProductEvents {
  readonly isOn: true;
  readonly environment: string;
  readonly isPublished: boolean;
  readonly show: Json<Show> | null;
  readonly defaults: {
    readonly organiser: string;
    readonly timeZone: string;
    readonly providerId: number | null;
  };
  readonly optionValues: readonly string[];
  readonly events: readonly EventRow[];
}

/** The list of events. */
export interface EventList {
  readonly isOn: true;
  readonly environment: string;
  readonly isAutomatic: boolean;
  readonly counts: Readonly<Record<EventFilter, number>>;
  readonly events: readonly EventRow[];
  readonly count: number;
}

/** A shop that sells no shows. */
interface Off {
  readonly isOn: false;
}

const KEY = "giftcard-events";
const at = (path: string) => `/admin/giftcard-pay/events${path}`;

const isOnTheWay = (events: readonly EventRow[]) =>
  events.some(({ atIssuer: { state } }) => state === "open" || state === "sending");

/** Looks again by itself while something is on its way to the issuer. */
export const useProductEvents = (productId: string) =>
  useQuery({
    queryKey: [KEY, "product", productId],
    queryFn: () => sdk.client.fetch<ProductEvents | Off>(at(`/products/${productId}`)),
    refetchInterval: ({ state: { data } }) => (data?.isOn && isOnTheWay(data.events) ? 3_000 : 20_000),
  });

export interface EventListQuery {
  readonly filter: EventFilter;
  readonly q: string;
  readonly limit: number;
  readonly offset: number;
}

export const useEventList = ({ filter, q, limit, offset }: EventListQuery) =>
  useQuery({
    queryKey: [KEY, "list", filter, q, limit, offset],
    queryFn: () =>
      sdk.client.fetch<EventList | Off>(at(""), { query: { filter, limit, offset, ...(q !== "" && { q }) } }),
    placeholderData: keepPreviousData,
    refetchInterval: ({ state: { data } }) => (data?.isOn && isOnTheWay(data.events) ? 3_000 : 20_000),
  });

/** The issuer's providers and the company's concepts. */
export const useIssuer = () =>
  useQuery({
    queryKey: [KEY, "issuer"],
    queryFn: () =>
      sdk.client.fetch<{
        providers: { id: number; name: string }[];
        concepts: { id: number; register: string; representative: string; providerId: number }[];
      }>(at("/issuer")),
    retry: false,
  });

/** Posts something, and looks at all events anew. */
function usePost<T, R>(send: (what: T) => Promise<R>) {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: send,
    onError: (error) => toast.error(error.message),
    onSettled: () => queries.invalidateQueries({ queryKey: [KEY] }),
  });
}

const post = <R>(path: string, body: object) => sdk.client.fetch<R>(at(path), { method: "POST", body });

export const useSaveShow = (productId: string) =>
  usePost((body: { version: number; details: DetailsInput }) =>
    post<ProductEvents>(`/products/${productId}`, body),
  );

/** Publishes these events, or all that are ready. */
export const usePublish = () =>
  usePost((what: { keys: readonly string[] } | { all: true }) => post<Published>("/publish", what));

export const useTakeBack = () =>
  usePost((what: { keys: readonly string[]; state: "canceled" | "withdrawn" }) =>
    post<{ takenBack: string[] }>("/take-back", what),
  );

/** Looks in the issuer's list what has changed there. */
export const useCompare = () =>
  usePost((_: undefined) => post<{ compared: number; changed: string[] }>("/compare", {}));

export const useCreateConcept = () =>
  usePost((concept: { representative: string; register: string; providerId: number }) =>
    post<{ concept: { id: number; register: string; providerId: number } }>("/concepts", concept),
  );
