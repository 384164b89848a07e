import type { DatabaseProxy } from "../support/database-proxy.js";
import type { FaultProxy } from "../support/fault-proxy.js";
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
    /** What is charged at once, where that isn't all of its part. */
    readonly chargesCents?: readonly number[];
  }[];
  readonly remainderCents: number;
  /** Of several units of one thing, of which one comes back: what each costs, in cents. The card has a charge for each. */
  readonly units?: readonly number[];
}

/** A cart, what it is paid with, and what became of it. */
export interface Purchase {
  readonly kind: TenderKind;
  readonly cartId: string;
  readonly cards: readonly (IssuedCard & {
    readonly partCents: number;
    readonly chargesCents: readonly number[];
  })[];
  readonly remainderCents: number;
  readonly totalCents: number;
  /** What each of several units of one thing costs, in cents. */
  readonly units: readonly number[] | null;
  /** How many of its units come back by each return, where any do. Default one, by one. */
  readonly returns?: readonly number[];
}

/** Where a fault of a network is set. */
export interface FaultyLink {
  readonly proxy: FaultProxy;
  readonly operations: readonly string[];
  /** How many calls pass before. */
  readonly skip: number;
  /** Whether nothing else needs the link, so that it may refuse connections. */
  readonly isAlone: boolean;
}

/** Where something under way is stopped. */
export interface Trap {
  /** Whether it has come there. */
  isReached(): boolean | Promise<boolean>;
  /** Lets go what was on its way. */
  release(): Promise<void>;
}

/** A shop with everything that it needs, all real: what the faults are tried on. */
export interface Shop<P extends Purchase = Purchase> {
  readonly giftcards: GiftcardSide;
  /** Between the shop and its database, where it is reached by a network. */
  readonly database: DatabaseProxy | null;
  /** The statement at which the database's network fails, and how many such pass before. */
  statement(cell: Cell, purchase: P): { readonly pattern: RegExp; readonly skip?: number };
  /** Whether a refund leaves what the bank was paid. */
  readonly refundsCardsOnly: boolean;
  /** Begins a purchase: cards and a cart, nothing applied yet. */
  begin(kind: TenderKind): Promise<P>;
  /** Takes the steps before the one in which it goes wrong. @throws when one of them fails */
  approach(step: Step, purchase: P): Promise<void>;
  /** Makes whatever else has to fail, so that the step comes to where the fault is. */
  provoke(cell: Cell, purchase: P): Promise<void>;
  /** Where the fault of a cell's network is set. */
  link(cell: Cell, purchase: P): FaultyLink;
  /** Stops what `act` begins at the point where a process dies. */
  trap(cell: Cell, purchases: readonly P[]): Trap;
  /** The action that meets the fault. @returns whether it did what it should */
  act(step: Step, purchase: P): Promise<boolean>;
  /** After the fault: who got an error tries again, and a purchase that hadn't come to its order goes on. */
  goOn(step: Step, purchase: P): Promise<void>;
  /** Makes the next try of what is owed due now: a retry's pause is minutes by and by. */
  age(purchase: P): Promise<void>;
  /** Runs recovery now. @returns whether it answered */
  recover(): Promise<boolean>;
  /** What people do who are asked about a charge. */
  askPersons(purchase: P): Promise<void>;
  /** Reads everything that the shop and its bank wrote down. */
  books(purchase: P): Promise<ShopBooks>;
  /** Back to networks that don't fail. */
  calm(): Promise<void>;
  kill(): Promise<void>;
  /** Starts whatever doesn't run any more. */
  restore(): Promise<void>;
}

/** A shop that runs cells, one job after the other. */
export interface CellRunner {
  /** Runs cells that share a process's death, or one. */
  run(cells: readonly Cell[]): Promise<CellResult[]>;
  /** Starts whatever doesn't run any more. */
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
