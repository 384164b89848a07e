import type { DatabaseProxy } from "../../support/database-proxy.js";
import type { FaultProxy } from "../../support/fault-proxy.js";
import type { Cell, CellResult, Step, TenderKind } from "./cells.js";
import type { GiftcardSide, IssuedCard } from "./service.js";
import type { ShopBooks } from "./verdict.js";

/** Long enough for a slow machine, short enough that a lost answer costs seconds. */
export const TIMEOUT_MS = 1500;
export const LEASE_MS = 2500;

/** How an order is paid, in cents. */
export interface Tenders {
  readonly product: string;
  readonly totalCents: number;
  /** For each card: what it holds before, and what the order takes from it. */
  readonly cards: readonly {
    readonly issuedCents: number;
    readonly partCents: number;
    /** The amount of each charge, if the part is split into several. */
    readonly chargesCents?: readonly number[];
  }[];
  readonly remainderCents: number;
  /** The price of each unit in cents, if the order has several units and the card is charged for each. */
  readonly units?: readonly number[];
}

/** A cart and the tenders that pay for it. */
export interface Purchase {
  readonly kind: TenderKind;
  readonly cartId: string;
  readonly cards: readonly (IssuedCard & {
    readonly partCents: number;
    readonly chargesCents: readonly number[];
  })[];
  readonly remainderCents: number;
  readonly totalCents: number;
  /** The price of each unit in cents, if the card is charged for each unit. */
  readonly units: readonly number[] | null;
  /** The number of units in each return. Default: one return of one unit. */
  readonly returns?: readonly number[];
}

/** The network link at which a fault is set. */
export interface FaultyLink {
  readonly proxy: FaultProxy;
  readonly operations: readonly string[];
  /** The number of calls that pass before the fault. */
  readonly skip: number;
  /** Whether the proxy may refuse all connections, because no other call needs the link. */
  readonly isAlone: boolean;
}

/** A point at which an operation is stopped. */
export interface Trap {
  /** Whether the operation has reached the point. */
  isReached(): boolean | Promise<boolean>;
  /** Releases the held calls. */
  release(): Promise<void>;
}

/** The system under test: a shop and everything that it depends on, all real. */
export interface Shop<P extends Purchase = Purchase> {
  readonly giftcards: GiftcardSide;
  /** The proxy between the shop and its database. `null` if the database has no network. */
  readonly database: DatabaseProxy | null;
  /** The statement at which the database's network fails, and how many matching statements pass before. */
  statement(cell: Cell, purchase: P): { readonly pattern: RegExp; readonly skip?: number };
  /** Whether a refund covers only the cards, and the bank keeps its payment. */
  readonly refundsCardsOnly: boolean;
  /** Begins a purchase: issues cards and creates a cart, without applying the cards. */
  begin(kind: TenderKind): Promise<P>;
  /** Takes the steps before the faulty one. @throws if one of them fails */
  approach(step: Step, purchase: P): Promise<void>;
  /** Causes the other failures that the step needs to reach the fault. */
  provoke(cell: Cell, purchase: P): Promise<void>;
  /** Returns the network link at which the cell's fault is set. */
  link(cell: Cell, purchase: P): FaultyLink;
  /** Stops the operation that `act` begins at the point where a process is killed. */
  trap(cell: Cell, purchases: readonly P[]): Trap;
  /** Runs the action that meets the fault. @returns whether it succeeded */
  act(step: Step, purchase: P): Promise<boolean>;
  /** Continues after the fault: retries failed actions, and completes a purchase that has no order yet. */
  goOn(step: Step, purchase: P): Promise<void>;
  /** Makes outstanding retries due now, because the pause between retries grows to minutes. */
  age(purchase: P): Promise<void>;
  /** Runs recovery now. @returns whether it succeeded */
  recover(): Promise<boolean>;
  /** Does what people do if they are asked about a charge. */
  askPersons(purchase: P): Promise<void>;
  /** Reads the records of the shop and its bank. */
  books(purchase: P): Promise<ShopBooks>;
  /** Removes all network faults. */
  calm(): Promise<void>;
  kill(): Promise<void>;
  /** Starts every process that isn't running. */
  restore(): Promise<void>;
}

/** A shop that runs cells, one job at a time. */
export interface CellRunner {
  /** Runs one cell, or several cells that share a process crash. */
  run(cells: readonly Cell[]): Promise<CellResult[]>;
  /** Starts every process that isn't running. */
  restore(): Promise<void>;
  close(): Promise<void>;
}

/** Issues the cards of a purchase. */
export async function issueTenders(
  giftcards: GiftcardSide,
  kind: TenderKind,
  { totalCents, remainderCents, cards, units }: Tenders,
): Promise<Omit<Purchase, "cartId">> {
  const issued = [];
  for (const { issuedCents, partCents, chargesCents = [partCents] } of cards) {
    issued.push({ ...(await giftcards.issueCard(issuedCents)), partCents, chargesCents });
  }
  return { kind, cards: issued, remainderCents, totalCents, units: units ?? null };
}
