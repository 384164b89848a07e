import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { BASE_PATH } from "@giftcard-pay/client/contract";
import type { TestCard, TestCompany } from "../support/service.js";

const TIMEOUT_MS = 20_000;
const MAX_AMOUNT_CENTS = 300;
const CANCELED_PART = 0.2;
/** So long a caller asks again before it says that it will never know. */
const ASKS_FOR_MS = 120_000;

/** A sale that was answered. */
export interface Sale {
  readonly card: TestCard;
  readonly token: string;
  readonly cents: number;
  canceled: boolean;
}

interface Answer {
  readonly status: number;
  readonly body: Record<string, unknown>;
}

/** Callers that sell, and know of each sale what became of it: what they weren't told, they ask again by its key. */
export class Sales {
  readonly answered: Sale[] = [];
  /** Calls whose outcome nobody could tell from their first answer. */
  unknown = 0;
  /** Calls that were told to come again. */
  refused = 0;
  /** The longest time in which no sale was answered. */
  worstPauseMs = 0;
  readonly #url: string;
  readonly #company: TestCompany;
  readonly #cards: readonly TestCard[];
  #isResting = false;
  #isOver = false;
  #isGivenUp = false;
  #lastAt = performance.now();
  #acting: Promise<unknown> = Promise.resolve();

  constructor(url: string, company: TestCompany, cards: readonly TestCard[]) {
    this.#url = url;
    this.#company = company;
    this.#cards = cards;
  }

  begin(callers: number): void {
    this.#lastAt = performance.now();
    this.#acting = Promise.all(Array.from({ length: callers }, () => this.#act()));
    // Whoever waits or ends hears of a failure; the others stop then.
    this.#acting.catch(() => this.giveUp());
  }

  /** Waits until so many more sales were answered. */
  async more(count: number): Promise<void> {
    const until = this.answered.length + count;
    const wait = async () => {
      while (!this.#isOver && this.answered.length < until) await sleep(20);
    };
    // A caller that fails ends the wait.
    await Promise.race([wait(), this.#acting]);
  }

  /** Nobody begins a sale while this is done. */
  async restDuring(work: () => Promise<void>): Promise<void> {
    this.#isResting = true;
    try {
      await work();
    } finally {
      this.#isResting = false;
      this.#lastAt = performance.now();
    }
  }

  /** Lets every caller come to know the outcome of its last call. */
  async end(): Promise<void> {
    this.#isOver = true;
    await this.#acting;
  }

  /** What a card holds, in cents. */
  async balanceOf({ cardNumber, pin }: TestCard): Promise<unknown> {
    const { body } = await this.#ask("balance", { cardnumber: cardNumber, pin });
    return body.balance;
  }

  /** Ends every caller as it is: what they wait for isn't there any more. */
  giveUp(): void {
    this.#isOver = true;
    this.#isGivenUp = true;
  }

  async #act(): Promise<void> {
    while (!this.#isOver) {
      if (this.#isResting) {
        await sleep(20);
        continue;
      }
      const sale = await this.#sell();
      if (Math.random() < CANCELED_PART) await this.#cancel(sale);
    }
  }

  async #sell(): Promise<Sale> {
    const card = this.#cards[Math.floor(Math.random() * this.#cards.length)] as TestCard;
    const amount = 1 + Math.floor(Math.random() * MAX_AMOUNT_CENTS);
    const order = { cardnumber: card.cardNumber, pin: card.pin, amount };
    const { status, body } = await this.#ask("devalue", order, randomUUID());
    if (status !== 200 || body.amount_deducted !== amount)
      throw new Error(`A devalue was answered with ${status} (${JSON.stringify(body.errorcode)}).`);
    const now = performance.now();
    this.worstPauseMs = Math.max(this.worstPauseMs, now - this.#lastAt);
    this.#lastAt = now;
    const sale = { card, token: String(body.cancel_token), cents: amount, canceled: false };
    this.answered.push(sale);
    return sale;
  }

  /**
   * A reversal has an outcome of its own: one that was made and not answered is 409 when it is asked for again. A token
   * that isn't known, 404, is a sale that is lost: the books say so.
   */
  async #cancel(sale: Sale): Promise<void> {
    const { status } = await this.#ask("canceldevalue", { cancel_token: sale.token });
    if (status === 404) return;
    if (status !== 200 && status !== 409) throw new Error(`A cancel was answered with ${status}.`);
    sale.canceled = true;
  }

  /** Asks until the answer says what happened: no answer, 500 and 503 don't. */
  async #ask(operation: string, parameters: Record<string, unknown>, key?: string): Promise<Answer> {
    for (
      const giveUpAt = performance.now() + ASKS_FOR_MS;
      performance.now() < giveUpAt && !this.#isGivenUp;
    ) {
      const answer = await this.#send(operation, parameters, key);
      if (answer.status !== 0 && answer.status < 500) return answer;
      if (answer.status === 503) this.refused += 1;
      else this.unknown += 1;
      await sleep(50 + Math.random() * 100);
    }
    throw new Error(`Nobody knows what became of a ${operation}: it was asked again and again.`);
  }

  async #send(operation: string, parameters: Record<string, unknown>, key?: string): Promise<Answer> {
    const { apiKey, companyId } = this.#company;
    try {
      const response = await fetch(this.#url + BASE_PATH + operation, {
        method: "POST",
        headers: { "Content-Type": "application/json", ...(key && { "Idempotency-Key": key }) },
        body: JSON.stringify({ apikey: apiKey, company_id: companyId, ...parameters }),
        signal: AbortSignal.timeout(TIMEOUT_MS),
      });
      return { status: response.status, body: (await response.json()) as Answer["body"] };
    } catch {
      return { status: 0, body: {} };
    }
  }
}
