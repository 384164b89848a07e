import { randomBytes } from "node:crypto";
import { Secret } from "@giftcard-pay/client";
import { openKeyring, openPool } from "@giftcard-pay/service";
import { createCompany } from "../../packages/service/dist/store/accounts.js";
import { issueCards } from "../../packages/service/dist/store/card-issue.js";
import { createProvider } from "../../packages/service/dist/store/providers.js";

/** A company with its account. */
export interface TestCompany {
  readonly companyId: number;
  readonly apiKey: string;
  readonly email: string;
  readonly password: string;
}

export interface TestCard {
  readonly cardNumber: string;
  readonly pin: string;
  readonly expiryDate: string;
}

/** The operations of the service's command line, without a process for each command. */
export interface ServiceDesk {
  createCompany(): Promise<TestCompany>;
  /** @param order.expires in three years by default */
  issueCard(order: { balanceCents: number; expires?: string }): Promise<TestCard>;
  createProvider(name?: string): Promise<{ id: number; name: string }>;
  close(): Promise<void>;
}

const act = { operator: "test", osUser: "test", reason: "a test" };
const MAX_CONNECTIONS = 2;

/** Opens the desk of a running service, which must have created its secrets file. */
export function openServiceDesk({
  databaseUrl,
  secretsFile,
}: {
  readonly databaseUrl: string;
  readonly secretsFile: string;
}): ServiceDesk {
  const pool = openPool(databaseUrl, () => {}, MAX_CONNECTIONS);
  const keyring = () => openKeyring(secretsFile, pool);
  let closing: Promise<void> | undefined;
  return {
    async createCompany() {
      const email = `${randomBytes(6).toString("hex")}@example.nl`;
      const password = randomBytes(12).toString("base64url");
      const account = { name: "A shop", email, password: new Secret(password) };
      const { companyId, apiKey } = await createCompany(pool, account, act);
      return { companyId, apiKey: apiKey.reveal(), email, password };
    },
    async issueCard({ balanceCents, expires: expiryDate = inYears(3) }) {
      const order = { count: 1, balanceCents: balanceCents as never, expiryDate };
      const [card] = await issueCards(pool, await keyring(), order, act);
      if (!card) throw new Error("No card was issued.");
      return { cardNumber: card.cardNumber.reveal(), pin: card.pin.reveal(), expiryDate };
    },
    createProvider: (name = `provider ${randomBytes(4).toString("hex")}`) => createProvider(pool, name, act),
    // A service that a test stops is stopped again when the test file ends.
    close: () => (closing ??= pool.end()),
  };
}

function inYears(years: number): string {
  const date = new Date();
  date.setUTCFullYear(date.getUTCFullYear() + years);
  return date.toISOString().slice(0, 10);
}
