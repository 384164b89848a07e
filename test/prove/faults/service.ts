import path from "node:path";
import { cents } from "@giftcard-pay/client";
import { openKeyring, openPool } from "@giftcard-pay/service";
import type pg from "pg";
import { issueCards } from "../../../packages/service/dist/store/card-issue.js";
import { type FaultProxy, startFaultProxy } from "../../support/fault-proxy.js";
import { createDatabase } from "../../support/postgres.js";
import { startGiftcardService, type TestCompany, type TestService } from "../../support/service.js";

/** A card, with its owner's PIN and its issuer's id. */
export interface IssuedCard {
  readonly id: number;
  readonly cardNumber: string;
  readonly pin: string;
  readonly issuedCents: number;
}

/** The gift card side of a shop: the real service, a fault proxy in front of it, and its database. */
export interface GiftcardSide {
  readonly company: TestCompany;
  readonly proxy: FaultProxy;
  readonly books: pg.Pool;
  issueCard(balanceCents: number): Promise<IssuedCard>;
  kill(): Promise<void>;
  /** Starts the service if it isn't running. */
  restore(): Promise<void>;
}

/** Cleanup functions. They run at the end, the last one first. */
export type Closers = (() => unknown)[];

/** Starts the service on a database of its own. */
export async function openGiftcardSide(postgresUrl: string, folder: string, closers: Closers): Promise<GiftcardSide> {
  const secretsFile = path.join(folder, "secrets.json");
  const databaseUrl = await createDatabase(postgresUrl);
  const start = () =>
    startGiftcardService({
      ...{ databaseUrl, environment: "sandbox", secretsFile },
      args: ["--calls-per-minute", "0"],
    });
  let service: TestService | undefined = await start();
  closers.push(() => service?.stop());
  const company = await service.createCompany();
  const proxy = await startFaultProxy(service.url);
  closers.push(() => proxy.stop());
  const books = openBooks(databaseUrl, closers);
  const keyring = await openKeyring(secretsFile, books);
  return {
    ...{ company, proxy, books },
    issueCard: (balanceCents) => issueCard(books, keyring, balanceCents),
    async kill() {
      await service?.kill();
      service = undefined;
    },
    async restore() {
      if (service) return;
      service = await start();
      proxy.setTarget(service.url);
    },
  };
}

/** Opens a pool for inspecting a database. */
export function openBooks(databaseUrl: string, closers: Closers): pg.Pool {
  const pool = openPool(databaseUrl, () => {}, 2);
  closers.push(() => pool.end());
  return pool;
}

async function issueCard(
  pool: pg.Pool,
  keyring: Parameters<typeof issueCards>[1],
  balanceCents: number,
): Promise<IssuedCard> {
  const order = { count: 1, balanceCents: cents(balanceCents), expiryDate: "2099-12-31", prefix: "6" };
  const act = { operator: "faults", osUser: "faults", reason: undefined };
  const [card] = await issueCards(pool, keyring, order, act);
  if (!card) throw new Error("No card was issued.");
  return {
    id: card.id,
    cardNumber: card.cardNumber.reveal(),
    pin: card.pin.reveal(),
    issuedCents: balanceCents,
  };
}
