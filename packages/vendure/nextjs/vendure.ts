import type { TadaDocumentNode } from "gql.tada";
import { parse } from "graphql";
import { mutate, query } from "@/lib/vendure/api";

type Order = { code: string; state: string };
type Failure = { errorCode: string; message: string };
/** A result of a mutation: an order, or a refusal. */
export type Outcome = Partial<Order & Failure>;

// The starter's schema file does not have the plugin's types.
const document = <Result, Variables = Record<string, never>>(text: string) =>
  parse(text) as TadaDocumentNode<Result, Variables>;

const OUTCOME = "... on Order { code state } ... on ErrorResult { errorCode message }";

const ActiveOrder = document<{
  activeOrder:
    | (Order & {
        totalWithTax: number;
        payments:
          | {
              createdAt: string;
              method: string;
              state: string;
              metadata: { public?: { code?: string } } | null;
            }[]
          | null;
      })
    | null;
  giftcards: { covered?: number; remainder?: number };
}>(`query GiftcardOrder {
  activeOrder { code state totalWithTax payments { createdAt method state metadata } }
  giftcards { ... on GiftcardSummary { covered remainder } }
}`);

const OrderState = document<{ orderByCode: Order | null }, { code: string }>(
  "query OrderState($code: String!) { orderByCode(code: $code) { code state } }",
);

const Payment = document<
  {
    orderByCode: {
      currencyCode: string;
      giftcardPayment: {
        cards: { lastFour: string; amount: number }[];
        remainder: number;
      } | null;
    } | null;
  },
  { code: string }
>(`query GiftcardPayment($code: String!) {
  orderByCode(code: $code) {
    currencyCode giftcardPayment { cards { lastFour amount } remainder }
  }
}`);

const Transition = document<
  { transitionOrderToState: Outcome | null },
  { state: string }
>(`mutation Transition($state: String!) {
  transitionOrderToState(state: $state) { ${OUTCOME} }
}`);

const AddPayment = document<
  { addPaymentToOrder: Outcome },
  { input: { method: string; metadata: Record<string, unknown> } }
>(`mutation AddPayment($input: PaymentInput!) {
  addPaymentToOrder(input: $input) { ${OUTCOME} }
}`);

const session = { useAuthToken: true };

/** Reads the session's order and its gift cards. */
export const readActiveOrder = async () => (await query(ActiveOrder, {}, session)).data;

export const readOrderState = async (code: string) =>
  (await query(OrderState, { code }, session)).data.orderByCode?.state;

/** Reads how a placed order was paid. Returns nothing if the shop does not respond; the page then omits the payments. */
export const readPayment = async (code: string) =>
  (await query(Payment, { code }, session).catch(() => undefined))?.data.orderByCode ?? {
    currencyCode: "EUR",
    giftcardPayment: null,
  };

export const moveTo = async (state: string) =>
  (await mutate(Transition, { state }, session)).data.transitionOrderToState;

export const addPayment = async (method: string, metadata: Record<string, unknown>) =>
  (await mutate(AddPayment, { input: { method, metadata } }, session)).data.addPaymentToOrder;
