/** Starts the Vendure shop with its bank and the card service, and opens a shopper's and an admin's session. */
import { setTimeout as sleep } from "node:timers/promises";
import { createClient } from "@giftcard-pay/client";
import { startBank } from "../../examples/vendure/bank.js";
import { CleanUp, startCardService } from "../shops/card-service.mjs";
import { createDatabase } from "../shops/medusa-store.mjs";
import { holdOrder, newVendureSecrets, startVendureShop } from "../shops/vendure-shop.mjs";
import { openAdmin, openShopper } from "../shops/vendure-shopper.mjs";

const PATIENCE_MS = 60_000;
/** Short intervals, so that the demo takes a minute instead of half an hour. */
const HASTE = {
  GIFTCARD_TIMEOUT_MS: "2000",
  LEASE_MS: "6000",
  PENDING_REMAINDER_MS: "8000",
  GIFTCARD_SCHEDULE: "* * * * * *",
};

/** @typedef {import("../shops/vendure-shopper.mjs").OrderView} OrderView */

/**
 * @param {{ say: (text: string) => void, signal: AbortSignal, isHasty?: boolean, program?: string }} options `program` is another
 *   server than the example's
 * @throws if a part doesn't start; everything is stopped first
 */
export async function openStage({ say, signal, isHasty = true, program }) {
  const cleanUp = new CleanUp();
  try {
    const { service, serverUrl } = await startCardService({ cleanUp, progress: say, signal });
    const bank = await startBank();
    cleanUp.add(() => bank.stop());
    say("starting Vendure");
    const [databaseUrl, secrets] = [await createDatabase(serverUrl), newVendureSecrets()];
    const start = () =>
      startVendureShop({
        ...{ service, bankUrl: bank.url, databaseUrl, secrets, env: isHasty ? HASTE : {}, signal },
        ...(program && { program }),
      });
    let shop = await start();
    cleanUp.add(() => shop.stop());
    let admin = await openAdmin(shop.url, secrets.superadminPassword, signal);
    const client = createClient({
      baseUrl: service.url,
      apiKey: service.apiKey,
      companyId: service.companyId,
    });
    /** @param {number} balanceCents */
    async function issueCard(balanceCents) {
      const { cardnumber: cardNumber, pin } = await service.issueCard(balanceCents);
      return { cardNumber, pin };
    }
    return {
      issueCard,
      url: () => shop.url,
      password: secrets.superadminPassword,
      /** Opens a shopper's session with two tickets of 37.49 and these cards applied. @param {number[]} balances in cents */
      async shopper(...balances) {
        const shopper = openShopper(shop.url, signal);
        const { id, code } = await shopper.order();
        /** @type {{ cardNumber: string, pin: string }[]} */
        const cards = [];
        for (const balanceCents of balances) {
          const card = await issueCard(balanceCents);
          await shopper.apply(card);
          cards.push(card);
        }
        const heldCents = async () => {
          const left = await Promise.all(cards.map(async (card) => (await client.balance(card)).balanceCents));
          return balances.reduce((sum, issued, index) => sum + issued - Number(left[index]), 0);
        };
        return { ...shopper, id, code, cardsCents: heldCents, bankCents: () => bank.heldCents(code) };
      },
      /** @param {string} code */
      look: (code) => admin.look(code),
      admin: () => admin,
      hold: (/** @type {string} */ code) => holdOrder(databaseUrl, code),
      async killAndStart() {
        await shop.kill();
        shop = await start();
        admin = await openAdmin(shop.url, secrets.superadminPassword, signal);
      },
      /** @param {() => Promise<boolean>} isSo @param {() => string} what */
      async until(isSo, what) {
        const giveUpAt = Date.now() + PATIENCE_MS;
        while (!(await isSo())) {
          if (Date.now() > giveUpAt) throw new Error(`Timed out waiting for ${what()}:\n${shop.logs().slice(-4000)}`);
          await sleep(200, undefined, { signal });
        }
      },
      stop: () => cleanUp.run(),
    };
  } catch (error) {
    await cleanUp.run();
    throw error;
  }
}

/** @typedef {Awaited<ReturnType<typeof openStage>>} Stage */
