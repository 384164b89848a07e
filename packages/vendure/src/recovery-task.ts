import { Inject, Injectable } from "@nestjs/common";
import { type Order, Payment, ScheduledTask } from "@vendure/core";
import { In, IsNull, MoreThan, Not } from "typeorm";
import { GiftcardCheckout } from "./checkout.js";
import { logFailure, SETTINGS } from "./constants.js";
import { liveStates } from "./money.js";
import type { Settings } from "./options.js";
import { Orders } from "./orders.js";
import { CardRefunds } from "./refunds.js";
import { Settlement } from "./settlement.js";

export const RECOVERY_TASK = "giftcard-recovery";

const DAY_MS = 24 * 60 * 60_000;
const PAGE_SIZE = 100;
/** A run that takes longer continues in the next one. */
const RUN_MS = 45_000;
/** When a run ends, with the time for its last order left before the scheduler's timeout. */
const MOST_MS = 1.6 * RUN_MS;

/** Finishes what crashes and lost responses left open. */
@Injectable()
export class Recovery {
  #sweptUntil = Date.now() - DAY_MS;

  constructor(
    @Inject(SETTINGS) private readonly settings: Settings,
    @Inject(GiftcardCheckout) private readonly checkout: GiftcardCheckout,
    @Inject(Orders) private readonly orders: Orders,
    @Inject(Settlement) private readonly settlement: Settlement,
    @Inject(CardRefunds) private readonly refunds: CardRefunds,
  ) {}

  /** Runs the checkout's recovery, then settles each order that a crash may have left inconsistent. */
  async run(): Promise<{ orders: number }> {
    const startedAt = Date.now();
    const { purchases } = await this.checkout.calls.recover({ deadlineMs: RUN_MS });
    const since = new Date(this.#sweptUntil - 3 * this.settings.leaseMs);
    const decided = purchases.map(({ orderId }) => orderId);
    const codes = new Set([...decided, ...(await this.openOrders(since)), ...(await this.movedOrders(since))]);
    await this.refunds.finishPending();
    let hasFailed = false;
    for (const code of codes) {
      if (Date.now() - startedAt > MOST_MS) {
        // The next run continues.
        hasFailed = true;
        break;
      }
      await this.settlement.request(code).catch((error: unknown) => {
        hasFailed = true;
        logFailure(error, code);
      });
    }
    // After a failure, the next run looks at the same orders again.
    if (!hasFailed) this.#sweptUntil = startedAt;
    return { orders: codes.size };
  }

  /** Returns orders with payments that are not placed, or are canceled, and those with a refund that has failed since then. */
  private async openOrders(since: Date): Promise<string[]> {
    const state = In(liveStates);
    const method = this.settings.paymentMethodCode;
    const states = [...this.orders.unplacedStates, "PaymentAuthorized"] as Order["state"][];
    const where = [
      { state, order: { id: Not(IsNull()), orderPlacedAt: IsNull(), state: In(states) } },
      { state, method, order: { state: "Cancelled" as const }, refunds: { id: IsNull() } },
      { order: { id: Not(IsNull()) }, refunds: { state: "Failed" as const, updatedAt: MoreThan(since) } },
    ];
    const payments = this.orders.connection.rawConnection.getRepository(Payment);
    const found = await payments.find({ where, relations: ["order", "refunds"] });
    return found.map(({ order }) => order.code);
  }

  /** Returns orders whose cards were charged or refunded since then, which Vendure may not have stored. */
  private async movedOrders(since: Date): Promise<string[]> {
    const codes: string[] = [];
    const moved = { from: since, to: new Date(Date.now() + DAY_MS) };
    for (let offset = 0; ; offset += PAGE_SIZE) {
      const query = { moved, limit: PAGE_SIZE, offset, sort: "oldest" } as const;
      const { charges } = await this.checkout.calls.operator.charges(query);
      codes.push(...charges.flatMap(({ orderId }) => orderId ?? []));
      if (charges.length < PAGE_SIZE) return codes;
    }
  }
}

/** Makes the task of Vendure's scheduler, which runs in one process at a time. */
export const recoveryTask = ({ schedule }: Settings): ScheduledTask =>
  new ScheduledTask({
    id: RECOVERY_TASK,
    description: "Finishes gift card payments that crashes and lost responses left open",
    schedule,
    timeout: 2 * RUN_MS,
    execute: ({ injector }) => injector.get(Recovery).run(),
  });
