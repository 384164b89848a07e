import { Visitor } from "../../../../scripts/shops/visitor.mjs";
import type { TenderKind } from "../cells.js";
import { pause } from "../run-cell.js";
import { issueTenders, type Purchase } from "../shop.js";
import { tenders } from "./tenders.js";
import type { World } from "./world.js";

/** A purchase with its shopper's browser. */
export interface PlainPurchase extends Purchase {
  readonly visitor: Visitor;
  /** The bank's page, once the order has led there. */
  bankPage: string | undefined;
  returns: readonly number[];
}

/** A page, or undefined where the shopper got an error or no answer. */
type MaybePage = { readonly url: string; readonly text: string } | undefined;

const maybe = <T>(call: Promise<T>): Promise<T | undefined> => call.catch(() => undefined);
const bankLink = /href="([^"]+)">Pay at the bank</;

/** Begins a purchase: cards, and a cart in a new session. */
export async function begin({ giftcards, url }: World, kind: TenderKind): Promise<PlainPurchase> {
  const visitor = new Visitor();
  const { product, units } = tenders[kind];
  const issued = await issueTenders(giftcards, kind, tenders[kind]);
  let cartId: string | undefined;
  for (let count = 0; count < (units?.length ?? 1); count += 1) {
    const page = await visitor.submit(`${url}/cart`, { product });
    cartId = page.text.match(/cart="([^"]+)"/)?.[1];
  }
  if (!cartId) throw new Error("the checkout shows no cart");
  return { ...issued, cartId, visitor, bankPage: undefined, returns: [1] };
}

/** The steps of a purchase as its shopper and its operator take them. Each can be taken again when it failed. */
export const actions = {
  /** Applies every card that isn't applied yet. */
  async apply({ url }: World, { visitor, cartId, cards }: PlainPurchase): Promise<boolean> {
    for (const { cardNumber, pin } of cards) {
      const applying = visitor.send(`${url}/giftcards/carts/${cartId}/cards`, { cardNumber, pin });
      const error = await applying.then(
        () => null,
        (thrown: Error) => thrown,
      );
      if (error && !error.message.includes("card_already_applied")) return false;
    }
    return true;
  },

  /** Places the order. @returns whether it is paid, or waits for the bank */
  async place(world: World, purchase: PlainPurchase, url = world.url): Promise<boolean> {
    const { visitor, cartId } = purchase;
    const shown = await maybe(visitor.read(`${url}/giftcards/carts/${cartId}`));
    const page = await maybe(visitor.submit(`${url}/orders`, { plan: shown?.plan ?? "" }));
    if (page?.url.includes("/pay/")) purchase.bankPage = page.url;
    purchase.bankPage ??= page?.text.match(bankLink)?.[1];
    return purchase.bankPage !== undefined || isPaid(page);
  },

  /** At the bank. @returns whether the order is paid then */
  async decide({ visitor, bankPage }: PlainPurchase, choice: "approve" | "decline" | "twice"): Promise<boolean> {
    return bankPage !== undefined && isPaid(await maybe(visitor.submit(bankPage, { choice })));
  },

  /** The bank takes the money, and the shopper doesn't come back. */
  async approveAndLeave({ visitor, bankPage }: PlainPurchase): Promise<void> {
    const signal = AbortSignal.timeout(300);
    await visitor.submit(String(bankPage), { choice: "hang" }, signal).catch(() => {});
  },

  /** The address that the bank sends the shopper to. */
  async comeBack({ visitor }: PlainPurchase, url: string, orderId: string): Promise<boolean> {
    return isPaid(await maybe(visitor.open(`${url}/orders/${orderId}/return`)));
  },

  /** Places the order and pays at the bank, where there is something left to pay. */
  async buy(world: World, purchase: PlainPurchase): Promise<boolean> {
    if (!(await actions.place(world, purchase))) return false;
    return purchase.bankPage === undefined || actions.decide(purchase, "approve");
  },

  /** The shopper looks how it stands, and pays what is to be paid at the bank. */
  async lookAgain(world: World, purchase: PlainPurchase): Promise<boolean> {
    const page = await maybe(purchase.visitor.open(`${world.url}/checkout`));
    if (!page) return false;
    const link = page.text.match(bankLink)?.[1];
    if (!link) return true;
    purchase.bankPage = link;
    if (await actions.decide(purchase, "approve")) return true;
    // It was approved before: the bank's page leads back.
    const orderId = orderIdOf(world, purchase);
    return orderId !== undefined && actions.comeBack(purchase, world.url, orderId);
  },

  /** The operator's buttons. */
  async operate({ operator, url }: World, path: string, at = url, fields?: Fields): Promise<boolean> {
    const headers = { ...operator, origin: at };
    const body = fields && new URLSearchParams(fields);
    const request = { method: "POST", headers, redirect: "manual", body } as const;
    return (await maybe(fetch(`${at}/operator${path}`, request)))?.status === 303;
  },

  /** The operator takes units back, under an id of the return. */
  giveBack(
    world: World,
    purchase: PlainPurchase,
    { at = world.url, number = 1 }: { at?: string; number?: number } = {},
  ): Promise<boolean> {
    const { kind, cartId, returns } = purchase;
    const quantity = String(returns[number - 1]);
    const fields = { id: `return_${cartId}_${number}`, line: tenders[kind].product, quantity };
    return actions.operate(world, `/orders/${orderIdOf(world, purchase)}/return`, at, fields);
  },
};

type Fields = Readonly<Record<string, string>>;

const isPaid = (page: MaybePage) => page?.text.includes("Your order is paid") ?? false;

/** The order that closed the cart. */
export function orderIdOf({ orders }: World, { cartId }: Purchase): string | undefined {
  const row = orders.prepare("select order_id from shop_cart where id = ?").get(cartId);
  return (row?.order_id as string | null) ?? undefined;
}

/** Tries again, as people do. */
export async function again(action: () => Promise<boolean>): Promise<void> {
  for (let tries = 0; tries < 3; tries += 1) {
    if (await action()) return;
    await pause(500);
  }
}
