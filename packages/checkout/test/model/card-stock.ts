import type { GiftcardClient } from "@giftcard-pay/client";
import type { TestService } from "../../../../test/support/service.js";

const BATCH = 400;

/** A card at the service, for one sequence. */
export interface ModelCard {
  readonly cardNumber: string;
  readonly pin: string;
  readonly lastFour: string;
  readonly issuedCents: number;
  /** Returns its balance. */
  balanceCents(): Promise<number>;
  /** Spends it in another shop. Returns the amount. */
  spend(cents: number): Promise<number>;
  /** Blocks or unblocks it at the issuer. */
  setBlocked(isBlocked: boolean): Promise<void>;
}

/** Blocks the card with this number at the service. */
export type SetBlocked = (cardNumber: string, isBlocked: boolean) => Promise<unknown>;

type Numbers = { readonly cardnumber: string; readonly pin: string };

/** Cards of any balance, issued in hundreds. */
export class CardStock {
  readonly #service: TestService;
  readonly #client: GiftcardClient;
  readonly #setBlocked: SetBlocked;
  readonly #stock = new Map<number, Numbers[]>();
  #issuing: Promise<unknown> = Promise.resolve();

  /** @param client calls the service without faults */
  constructor(service: TestService, client: GiftcardClient, setBlocked: SetBlocked) {
    this.#setBlocked = setBlocked;
    this.#service = service;
    this.#client = client;
  }

  /** Returns a card of each balance, with different last four digits. */
  async take(balances: readonly number[]): Promise<ModelCard[]> {
    const taken: ModelCard[] = [];
    for (const balance of balances) {
      const isOther = ({ cardnumber }: Numbers) => taken.every(({ lastFour }) => !cardnumber.endsWith(lastFour));
      let numbers = this.#find(balance, isOther);
      while (!numbers) {
        this.#issuing = this.#issuing.then(() => this.#issue(balance));
        await this.#issuing;
        numbers = this.#find(balance, isOther);
      }
      taken.push(this.#card(numbers, balance));
    }
    return taken;
  }

  #find(balance: number, isFit: (numbers: Numbers) => boolean): Numbers | undefined {
    const stock = this.#stock.get(balance) ?? [];
    const index = stock.findIndex(isFit);
    return index < 0 ? undefined : stock.splice(index, 1)[0];
  }

  async #issue(balance: number): Promise<void> {
    const stock = this.#stock.get(balance) ?? [];
    this.#stock.set(balance, stock);
    // Another sequence may have waited for the same cards.
    if (stock.length > BATCH / 2) return;
    const order = ["--balance", String(balance), "--count", String(BATCH)];
    stock.push(...((await this.#service.command("card", "issue", ...order)) as Numbers[]));
  }

  #card({ cardnumber: cardNumber, pin }: Numbers, issuedCents: number): ModelCard {
    let isBlocked = false;
    return {
      cardNumber,
      pin,
      lastFour: cardNumber.slice(-4),
      issuedCents,
      balanceCents: async () => (await this.#client.balance({ cardNumber, pin })).balanceCents,
      setBlocked: async (wanted) => {
        if (wanted !== isBlocked) await this.#setBlocked(cardNumber, wanted);
        isBlocked = wanted;
      },
      spend: async (cents) => {
        const amountCents = cents as Parameters<GiftcardClient["devalue"]>[0]["amountCents"];
        const { balanceCents } = await this.#client.balance({ cardNumber, pin });
        if (balanceCents === 0 || isBlocked) return 0;
        return (await this.#client.devalue({ cardNumber, pin, amountCents })).deductedCents;
      },
    };
  }
}
