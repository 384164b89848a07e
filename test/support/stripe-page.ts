/*
 * A stand-in for Stripe.js in a page: a field for a card's number, and the functions that confirm a payment with it. It
 * runs in the browser without its types. A line with the URL of the simulated Stripe precedes it.
 */
declare const PLAYED_STRIPE_URL: string;

interface Fault {
  readonly type: string;
  readonly code?: string;
  readonly message: string;
}

/** An intent or a payment method, with the fields that a page reads. */
interface StripeObject {
  readonly id: string;
  readonly status?: string;
}

type Answer = { readonly value: StripeObject } | { readonly error: Fault };
type Listener = (event: object) => void;

(() => {
  const validationError = (code: string, message: string): Fault => ({
    ...{ type: "validation_error", code, message },
  });
  const invalidNumber = validationError("invalid_number", "Your card number is invalid.");
  const incompleteNumber = validationError("incomplete_number", "Your card number is incomplete.");

  const isLongEnough = (number: string) => number.length === 16;

  function isCardNumber(number: string): boolean {
    const sum = [...number].reverse().reduce((sum, digit, index) => {
      const value = Number(digit) * (index % 2 === 0 ? 1 : 2);
      return sum + (value > 9 ? value - 9 : value);
    }, 0);
    return isLongEnough(number) && sum % 10 === 0;
  }

  /** Stripe's card field, with only the number. */
  class CardElement {
    readonly #listeners = new Map<string, Listener[]>();
    readonly #input = document.createElement("input");
    readonly #onEnd: () => void;

    constructor(onEnd: () => void) {
      this.#onEnd = onEnd;
      Object.assign(this.#input, { name: "cardnumber", inputMode: "numeric", placeholder: "Card number" });
      this.#input.setAttribute("autocomplete", "cc-number");
      this.#input.setAttribute("aria-label", "Credit or debit card number");
      this.#input.style.cssText = "width: 100%; border: 0; background: transparent; font: inherit";
      this.#input.addEventListener("input", () => this.#emit("change", this.#state()));
      for (const type of ["focus", "blur"])
        this.#input.addEventListener(type, () => this.#emit(type, { elementType: "card" }));
    }

    get number() {
      return this.#input.value.replaceAll(/\D/g, "");
    }
    get isComplete() {
      return isCardNumber(this.number);
    }
    #state() {
      const { number, isComplete } = this;
      return {
        elementType: "card",
        empty: number === "",
        complete: isComplete,
        error: isLongEnough(number) && !isComplete ? invalidNumber : undefined,
        brand: number.startsWith("4") ? "visa" : "unknown",
        value: { postalCode: "" },
      };
    }
    #of(type: string): Listener[] {
      return this.#listeners.get(type) ?? [];
    }
    #emit(type: string, event: object): void {
      for (const listener of this.#of(type)) listener(event);
    }
    on(type: string, listener: Listener) {
      this.#listeners.set(type, [...this.#of(type), listener]);
      return this;
    }
    once(type: string, listener: Listener) {
      const first: Listener = (event) => {
        this.off(type, first);
        listener(event);
      };
      return this.on(type, first);
    }
    off(type: string, listener?: Listener) {
      const others = this.#of(type).filter((other) => listener && other !== listener);
      this.#listeners.set(type, others);
      return this;
    }
    mount(place: string | Element): void {
      const node = typeof place === "string" ? document.querySelector(place) : place;
      if (!node) throw new Error("The place to mount the card field isn't in the page.");
      node.replaceChildren(this.#input);
      node.classList.add("StripeElement");
      queueMicrotask(() => this.#emit("ready", { elementType: "card" }));
    }
    unmount(): void {
      this.#input.parentElement?.classList.remove("StripeElement");
      this.#input.remove();
    }
    destroy(): void {
      this.unmount();
      this.#onEnd();
    }
    update({ disabled }: { disabled?: boolean } = {}): void {
      if (disabled !== undefined) this.#input.disabled = disabled;
    }
    focus(): void {
      this.#input.focus();
    }
    blur(): void {
      this.#input.blur();
    }
    clear(): void {
      this.#input.value = "";
      this.#emit("change", this.#state());
    }
  }

  function createElements() {
    let card: CardElement | null = null;
    return {
      create(type: string) {
        if (type !== "card") throw new Error(`This simulated Stripe has only the card field, not ${type}.`);
        if (card) throw new Error("Can only create one Element of type card through elements().");
        return (card = new CardElement(() => {
          card = null;
        }));
      },
      /** @param type its name, or React's component for it */
      getElement: (type: string | { __elementType?: string }) =>
        (typeof type === "string" ? type : type.__elementType) === "card" ? card : null,
      update() {},
    };
  }

  /** Shows the authentication dialog of the shopper's bank, and resolves when the shopper confirms. */
  function ask(): Promise<void> {
    const overlay = document.createElement("div");
    overlay.setAttribute("role", "dialog");
    overlay.setAttribute("aria-label", "Authentication");
    overlay.style.cssText =
      "position: fixed; inset: 0; z-index: 2147483647; display: grid; place-items: center; background: #0008";
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = "Complete authentication";
    overlay.append(button);
    document.body.append(overlay);
    button.focus();
    return new Promise((resolve) => {
      button.addEventListener("click", () => {
        overlay.remove();
        resolve();
      });
    });
  }

  function createStripe(key: string) {
    async function call(path: string, form?: Record<string, string>): Promise<Answer> {
      const headers = { authorization: `Bearer ${key}` };
      const init = form ? { method: "POST", headers, body: new URLSearchParams(form) } : { headers };
      const response = await fetch(PLAYED_STRIPE_URL + path, init);
      const answer = await response.json();
      return response.ok ? { value: answer } : { error: answer.error };
    }
    const named = (name: string, answer: Answer) =>
      "error" in answer ? { error: answer.error } : { [name]: answer.value };
    const pathOf = (secret: string) => `/v1/payment_intents/${secret.split("_secret_")[0]}`;
    const retrieve = (secret: string) => call(`${pathOf(secret)}?${new URLSearchParams({ client_secret: secret })}`);

    async function finish(secret: string, answer: Answer) {
      const needsAction = "value" in answer && answer.value.status === "requires_action";
      if (!needsAction) return named("paymentIntent", answer);
      await ask();
      return named("paymentIntent", await call(`${pathOf(secret)}/authenticate`, { client_secret: secret }));
    }

    return {
      elements: createElements,
      async confirmCardPayment(
        secret: string,
        { payment_method: method }: { payment_method?: string | { card: CardElement } } = {},
      ) {
        const card = typeof method === "object" ? method.card : undefined;
        if (card && !card.isComplete) return { error: incompleteNumber };
        const form = {
          ...{ client_secret: secret },
          ...(typeof method === "string" && { payment_method: method }),
          ...(card && { "payment_method_data[card][number]": card.number }),
        };
        return finish(secret, await call(`${pathOf(secret)}/confirm`, form));
      },
      handleCardAction: async (secret: string) => finish(secret, await retrieve(secret)),
      retrievePaymentIntent: async (secret: string) => named("paymentIntent", await retrieve(secret)),
      async createPaymentMethod({ card }: { card: CardElement }) {
        if (!card.isComplete) return { error: incompleteNumber };
        return named("paymentMethod", await call("/v1/payment_methods", { "card[number]": card.number }));
      },
      async createToken() {
        throw new Error("This simulated Stripe creates no tokens.");
      },
      registerAppInfo() {},
      _registerWrapper() {},
    };
  }

  Object.assign(window, { Stripe: Object.assign(createStripe, { version: "clover" }) });
})();
