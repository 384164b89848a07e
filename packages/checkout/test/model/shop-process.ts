import type { GiftcardClient } from "@giftcard-pay/client";
import { type Checkout, createCheckout } from "../../src/index.js";
import { sealingKeys } from "../shop.js";
import { Gate, type Trouble } from "./gate.js";
import type { OtherMethod } from "./other-method.js";
import { PlayedError } from "./played-error.js";
import type { Stage } from "./stage.js";
import { MAX_CARDS } from "./steps.js";

/** The behavior of observers. */
export type ObserverMood = "calm" | "throw" | "reject";

/** A process of the shop: its checkout, and the gate of its statements. */
export interface ShopProcess {
  readonly gate: Gate;
  readonly checkout: Checkout;
}

export interface ShopParts {
  readonly stage: Stage;
  readonly client: GiftcardClient;
  readonly other: OtherMethod;
  readonly observers: () => ObserverMood;
  readonly onTrouble: (kind: Trouble["kind"]) => void;
  /** Called if an unhandled rejection of an observer ends the process, as in Node. */
  readonly onUnhandled: () => void;
}

/** Starts a process of the shop. */
export function startShopProcess({ stage, client, other, observers, onTrouble, onUnhandled }: ShopParts): ShopProcess {
  const gate = new Gate(onTrouble);
  const observe = () => {
    const mood = observers();
    if (mood === "throw") throw new PlayedError("observer");
    return mood === "reject" ? Promise.reject(new PlayedError("observer", onUnhandled)) : undefined;
  };
  const checkout = createCheckout({
    issuer: client,
    environment: "sandbox",
    store: stage.open(gate),
    sealingKeys,
    remainder: other.method(gate),
    maxCards: MAX_CARDS,
    onChange: observe,
    onTender: observe,
    onPurchase: observe,
    onFailure: observe,
  });
  return { gate, checkout };
}

/**
 * Wraps the client to track pending calls, so that the end can wait for the calls of dead processes.
 */
export function countCalls(client: GiftcardClient): {
  client: GiftcardClient;
  inFlight: Set<Promise<unknown>>;
} {
  const inFlight = new Set<Promise<unknown>>();
  const counted = Object.entries(client).map(([name, method]) => {
    if (typeof method !== "function") return [name, method];
    const call = (...args: unknown[]) => {
      const answer = Reflect.apply(method, client, args) as Promise<unknown>;
      const settled = answer.catch(() => {});
      inFlight.add(settled);
      void settled.then(() => inFlight.delete(settled));
      return answer;
    };
    return [name, call];
  });
  return { client: Object.fromEntries(counted), inFlight };
}
