import { type Hand, press, tabTo, tap } from "../test/shop/hand.js";

/** Who brings a tag into a state: by keys, by touch, or simulated. */
export interface Shopper {
  /** Types a text into an empty field. */
  type(field: HTMLInputElement, text: string): Promise<void>;
  press(button: HTMLElement): Promise<void>;
}

const withKeys = (hand: Hand): Shopper => ({
  async type(field, text) {
    await tabTo(field, hand);
    await hand.type(text);
  },
  press: (button) => press(button, hand),
});

const withTouch = (hand: Hand): Shopper => ({
  async type(field, text) {
    await tap(field, hand);
    await hand.type(text);
  },
  press: (button) => tap(button, hand),
});

/** For a gallery that a person opens, since a page can't press keys itself. */
const simulated: Shopper = {
  async type(field, text) {
    field.value = text;
    field.dispatchEvent(new Event("input"));
  },
  async press(button) {
    // biome-ignore lint/plugin: no test sees it; they choose keys or touch
    button.click();
  },
};

/** An action for the program that drives the browser: a method of {@link Hand} with its arguments. */
type Action = [keyof Hand, ...unknown[]];

declare global {
  /**
   * Resolves with the next action. Its end is reported by the next call, with `isDone`.
   * @returns undefined once every state is reached
   */
  var nextAction: (isDone: boolean) => Promise<Action | undefined>;
}

/** Passes actions to the program that drives the browser. */
class Driven implements Hand {
  #next = Promise.withResolvers<Action | undefined>();
  #finish = () => {};

  constructor() {
    globalThis.nextAction = (isDone) => {
      if (isDone) this.#finish();
      return this.#next.promise;
    };
  }

  type = (text: string) => this.#ask("type", text);
  key = (name: string) => this.#ask("key", name);
  touch = (x: number, y: number) => this.#ask("touch", x, y);

  end(): void {
    this.#next.resolve(undefined);
  }

  #ask(...action: Action): Promise<void> {
    return new Promise((resolve) => {
      this.#finish = () => {
        this.#next = Promise.withResolvers();
        resolve();
      };
      this.#next.resolve(action);
    });
  }
}

/**
 * Lets a shopper act, and tells the program that drives the browser when they are done.
 * @param by `keys` or `touch`. Otherwise the shopper is simulated, and no program is needed
 */
export async function withShopper(by: string | null, act: (shopper: Shopper) => Promise<void>): Promise<void> {
  if (by !== "keys" && by !== "touch") return act(simulated);
  const hand = new Driven();
  await act(by === "keys" ? withKeys(hand) : withTouch(hand));
  hand.end();
}
