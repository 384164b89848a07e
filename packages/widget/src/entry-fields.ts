import type { CardEntry } from "@giftcard-pay/checkout/storefront";
import type { LitElement } from "lit";
import { splitPasted, tidy } from "./entry.js";
import type { FieldName } from "./entry-form.js";

/** The two fields while a shopper fills them. What is typed stays in the fields: nothing here keeps it. */
export class EntryFields {
  /** Fields that were left empty. */
  missing: readonly FieldName[] = [];
  pinShown = false;

  constructor(private readonly host: LitElement) {}

  /** Card number and PIN, tidied; undefined, with {@link missing} set, where one is empty. */
  take(): CardEntry | undefined {
    this.missing = this.#empty;
    this.host.requestUpdate();
    return this.missing.length > 0 ? undefined : this.#entry;
  }

  /** Whether nothing stands in either field. */
  get isBlank(): boolean {
    return !this.host.hasUpdated || this.#empty.length === 2;
  }

  clearPin(): void {
    this.#field("pin").value = "";
    this.pinShown = false;
    this.host.requestUpdate();
  }

  clear(): void {
    this.clearPin();
    this.#field("number").value = "";
    this.missing = [];
  }

  /** A missing entry's message goes while it is typed: at leaving the field, the button would move from under a click. */
  readonly onInput = (): void => {
    const empty = this.#empty;
    this.missing = this.missing.filter((name) => empty.includes(name));
    this.host.requestUpdate();
  };

  /** Number and PIN that were pasted together go to their own fields. */
  readonly onPaste = (event: ClipboardEvent): void => {
    const entry = splitPasted(event.clipboardData?.getData("text/plain") ?? "");
    const pin = this.#field("pin");
    if (!entry || pin.readOnly) return;
    event.preventDefault();
    this.#field("number").value = entry.cardNumber;
    pin.value = entry.pin;
    pin.focus();
    this.onInput();
  };

  readonly onTogglePin = (): void => {
    this.pinShown = !this.pinShown;
    this.host.requestUpdate();
  };

  get #entry(): CardEntry {
    return { cardNumber: tidy(this.#field("number").value), pin: tidy(this.#field("pin").value) };
  }

  get #empty(): FieldName[] {
    const { cardNumber, pin } = this.#entry;
    return [...(cardNumber ? [] : ["number" as const]), ...(pin ? [] : ["pin" as const])];
  }

  #field(name: FieldName): HTMLInputElement {
    return this.host.renderRoot.querySelector(`#${name}`) as HTMLInputElement;
  }
}
