import type { CardEntry } from "@giftcard-pay/checkout/storefront";
import type { LitElement } from "lit";
import { splitEntry, tidy } from "./entry.js";
import type { FieldName } from "./entry-form.js";

/** The two fields while a shopper fills them. What is typed stays in the fields: nothing here keeps it. */
export class EntryFields {
  /** Fields that were left empty. */
  missing: readonly FieldName[] = [];
  pinShown = false;

  constructor(private readonly host: LitElement) {}

  /** Card number and PIN, tidied; undefined, with {@link missing} set, where one is empty. */
  take(): CardEntry | undefined {
    this.#spread();
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

  /** A missing entry's message goes while it is typed; none comes. */
  readonly onInput = (): void => {
    const empty = this.#empty;
    this.missing = this.missing.filter((name) => empty.includes(name));
    this.host.requestUpdate();
  };

  /**
   * A field that is left empty while the other is filled is named. On the way to the button nothing is shown, which
   * would move the button from under a click: the button itself checks both.
   */
  readonly onLeave = ({ target, relatedTarget }: FocusEvent): void => {
    this.#spread();
    const { id } = target as HTMLInputElement;
    const empty = this.#empty;
    if (
      !relatedTarget ||
      (relatedTarget as HTMLButtonElement).type === "submit" ||
      empty[0] !== id ||
      empty[1]
    )
      return;
    this.missing = empty;
    this.host.requestUpdate();
  };

  /** Number and PIN that were pasted together go to their own fields. */
  readonly onPaste = (event: ClipboardEvent): void => {
    if (!this.#put(splitEntry(event.clipboardData?.getData("text/plain") ?? ""))) return;
    event.preventDefault();
    this.#field("pin").focus();
  };

  readonly onTogglePin = (): void => {
    this.pinShown = !this.pinShown;
    this.host.requestUpdate();
  };

  /** A scanner types as a keyboard does, all into the field that has the focus. */
  #spread(): void {
    for (const name of ["number", "pin"] as const) {
      const { value } = this.#field(name);
      // Digits in groups are one entry, however they are spaced.
      if (/[^\d\s-]/.test(value)) this.#put(splitEntry(value));
    }
  }

  #put(entry: CardEntry | undefined): boolean {
    const pin = this.#field("pin");
    if (!entry || pin.readOnly) return false;
    this.#field("number").value = entry.cardNumber;
    pin.value = entry.pin;
    this.onInput();
    return true;
  }

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
