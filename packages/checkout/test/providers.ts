import http from "node:http";
import type { AddressInfo } from "node:net";
import { toNodeListener } from "../src/http/node.js";
import type { CheckoutOptions } from "../src/index.js";
import type { RemainderMethod } from "../src/remainder.js";
import { gate } from "./bank.js";
import type { Stage, TestOrder } from "./each-store.js";

/** Returns what the tests of payment providers share. `cents` returns an order's money at the provider. */
export function withProvider({ store, card, checkout, stateOf }: Stage, cents: (orderId: string) => number) {
  /** Returns the order's state, and the money that the shopper has paid: by card, and at the provider. */
  const standing = async (o: TestOrder) => [await stateOf(o), 7500 - (await card.balanceCents()), cents(o.id)];

  /** Begins to pay in a process that dies before or after it stores the payment's id. The leases have run out then. */
  async function diesAt(
    moment: "before keep" | "after keep" | "after the answer",
    o: TestOrder,
    method: RemainderMethod,
    input?: unknown,
  ) {
    const death = gate();
    const dying: RemainderMethod = {
      ...method,
      authorize: async (request, { keep, input }) => {
        const dyingKeep: typeof keep = async (data) => {
          if (moment === "before keep") await death.pass(undefined);
          await keep(data);
          if (moment === "after keep") await death.pass(undefined);
        };
        const answer = await method.authorize(request, { input, keep: dyingKeep });
        return moment === "after the answer" ? death.pass(answer) : answer;
      },
    };
    const ended = checkout({ remainder: dying })
      .pay(o, { input })
      .catch((error: unknown) => error);
    const early = await Promise.race([death.arrived, ended]);
    if (early) throw new Error("the payment ended before the process died", { cause: early });
    await store.letLeasesRunOut();
    return { goOn: death.open, ended };
  }

  /** Serves the webhook of a checkout. */
  async function listen(options: Partial<CheckoutOptions>) {
    const { webhook } = checkout(options);
    const server = http.createServer(toNodeListener(webhook));
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/webhook`;
    const close = () => {
      server.closeAllConnections();
      return new Promise((resolve) => server.close(resolve));
    };
    return { url, close };
  }

  return { standing, diesAt, listen };
}
