import { OVERLOAD_RETRY_SECONDS, Pages, type Refusal, refuse } from "../http/handler.js";
import { Semaphore } from "../limits/semaphore.js";

/** Number of pages read concurrently. Low, so that lists do not slow down calls on cards. */
const PAGES_AT_ONCE = 2;
/** Number of long lists that one company may read concurrently, and that may wait. */
const LISTS_AT_ONCE = 4;
const LISTS_WAITING = 50;

/** Limits how many pages are read, and how many long lists of one company are sent, at the same time. */
export class ListTurns {
  readonly #pages = new Semaphore(PAGES_AT_ONCE, Number.POSITIVE_INFINITY);
  readonly #companies = new Map<number, { lists: Semaphore; users: number }>();

  /**
   * Answers with a list: one page at once, a longer list page by page.
   *
   * @param pages each is read when the caller has received the one before
   */
  async answer<Row>(
    companyId: number,
    pages: AsyncGenerator<Row[], undefined>,
  ): Promise<Row[] | Pages<Row> | Refusal<"overloaded">> {
    const next = async () => this.#pages.run(() => pages.next()) as ReturnType<typeof pages.next>;
    const first = await next();
    if (first.done) return [];
    const second = await next();
    if (second.done) return first.value;
    const release = await this.#enter(companyId);
    if (!release) return refuse("overloaded", { retryAfterSeconds: OVERLOAD_RETRY_SECONDS });
    const read = [first, second];
    return new Pages({ next: async () => read.shift() ?? next() }, release);
  }

  /** @returns a function that frees the place; undefined if too many lists already wait for one */
  async #enter(companyId: number): Promise<(() => void) | undefined> {
    const known = this.#companies.get(companyId);
    const company = known ?? { lists: new Semaphore(LISTS_AT_ONCE, LISTS_WAITING), users: 0 };
    this.#companies.set(companyId, company);
    company.users += 1;
    const forget = () => {
      company.users -= 1;
      if (company.users === 0) this.#companies.delete(companyId);
    };
    const leave = await company.lists.enter();
    if (!leave) return void forget();
    return () => {
      leave();
      forget();
    };
  }
}
