import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { BASE_PATH } from "@giftcard-pay/client/contract";
import type { TestCard, TestCompany } from "../../support/service.js";

const TIMEOUT_MS = 20_000;
const MAX_AMOUNT_CENTS = 300;
const CANCELED_SHARE = 0.2;
/** How long a caller retries before it reports an unknown outcome. */
const RETRIES_FOR_MS = 120_000;

/** An answered sale. */
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

/** Callers that sell. They retry each sale of unknown outcome with the same idempotency key until they know it. */
export class Sales {
  readonly answered: Sale[] = [];
  /** Calls with an unknown outcome, each then retried. */
  unknown = 0;
  /** Calls that were rejected with 503, each then retried. */
  rejected = 0;
  /** The longest time between two answered sales. */
  worstPauseMs = 0;
  readonly #url: string;
  readonly #company: TestCompany;
  readonly #cards: readonly TestCard[];
  #isResting = false;
  #isOver = false;
  #isGivenUp = false;
  #lastAt = performance.now();
  #selling: Promise<unknown> = Promise.resolve();

  constructor(url: string, company: TestCompany, cards: readonly TestCard[]) {
    this.#url = url;
    this.#company = company;
    this.#cards = cards;
  }

  start(callers: number): void {
    this.#lastAt = performance.now();
    this.#selling = Promise.all(Array.from({ length: callers }, () => this.#sellRepeatedly()));
    // If one caller fails, the others stop. `waitFor` and `end` report the failure.
    this.#selling.catch(() => this.giveUp());
  }

  /** Waits for this number of further answered sales. */
  async waitFor(count: number): Promise<void> {
    const until = this.answered.length + count;
    const wait = async () => {
      while (!this.#isOver && this.answered.length < until) await sleep(20);
    };
    await Promise.race([wait(), this.#selling]);
  }

  /** Starts no sale while the work is done. */
  async restDuring(work: () => Promise<void>): Promise<void> {
    this.#isResting = true;
    try {
      await work();
    } finally {
      this.#isResting = false;
      this.#lastAt = performance.now();
    }
  }

  /** Waits until every caller knows the outcome of its last call. */
  async end(): Promise<void> {
    this.#isOver = true;
    await this.#selling;
  }

  /** Returns a card's balance, in cents. */
  async balanceOf({ cardNumber, pin }: TestCard): Promise<unknown> {
    const { body } = await this.#call("balance", { cardnumber: cardNumber, pin });
    return body.balance;
  }

  /** Stops every caller, even if it does not know the outcome of its last call. */
  giveUp(): void {
    this.#isOver = true;
    this.#isGivenUp = true;
  }

  async #sellRepeatedly(): Promise<void> {
    while (!this.#isOver) {
      if (this.#isResting) {
        await sleep(20);
        continue;
      }
      const sale = await this.#sell();
      if (Math.random() < CANCELED_SHARE) await this.#cancel(sale);
    }
  }

  async #sell(): Promise<Sale> {
    const card = this.#cards[Math.floor(Math.random() * this.#cards.length)] as TestCard;
    const amount = 1 + Math.floor(Math.random() * MAX_AMOUNT_CENTS);
    const order = { cardnumber: card.cardNumber, pin: card.pin, amount };
    const { status, body } = await this.#call("devalue", order, randomUUID());
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
   * Cancels a sale. A repeated cancel gets 409 if the first was done but its answer was lost. An unknown token, 404, is a
   * lost sale: the comparison of the books reports it.
   */
  async #cancel(sale: Sale): Promise<void> {
    const { status } = await this.#call("canceldevalue", { cancel_token: sale.token });
    if (status === 404) return;
    if (status !== 200 && status !== 409) throw new Error(`A cancel was answered with ${status}.`);
    sale.canceled = true;
  }

  /** Retries until the outcome is known: after a lost answer, a 500 or a 503 it is not. */
  async #call(operation: string, parameters: Record<string, unknown>, key?: string): Promise<Answer> {
    for (const giveUpAt = performance.now() + RETRIES_FOR_MS; performance.now() < giveUpAt && !this.#isGivenUp; ) {
      const answer = await this.#send(operation, parameters, key);
      if (answer.status !== 0 && answer.status < 500) return answer;
      if (answer.status === 503) this.rejected += 1;
      else this.unknown += 1;
      await sleep(50 + Math.random() * 100);
    }
    throw new Error(`The outcome of a ${operation} is unknown after ${RETRIES_FOR_MS / 1000} s of retries.`);
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
