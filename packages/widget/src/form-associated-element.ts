import type { PropertyDeclarations } from "lit";
import { GiftcardElement } from "./giftcard-element.js";
import type { ErrorCode } from "./messages/index.js";

/** An element that takes part in the validation, reset and disabled state of the form around it. */
export class FormAssociatedElement extends GiftcardElement {
  static readonly formAssociated = true;

  static override properties: PropertyDeclarations = { disabled: { type: Boolean, reflect: true } };

  /** Whether all fields and buttons are disabled. A disabled `<fieldset>` around the element disables them too. */
  disabled = false;

  protected isFieldsetDisabled = false;
  readonly #internals = this.attachInternals();
  #form: HTMLFormElement | null = null;
  /** Why the form can't be sent. */
  #hindrance: ErrorCode | undefined;

  constructor() {
    super();
    this.addEventListener("invalid", this.#onInvalid);
  }

  /**
   * The form around it. It can't be sent during a call, while an entered card is not applied, nor while a payment with a card
   * is not finished, unless the shopper agrees to pay without that card.
   */
  get form(): HTMLFormElement | null {
    return this.#internals.form;
  }

  /** Invalid while the form can't be sent. */
  get validity(): ValidityState {
    return this.#internals.validity;
  }

  /** Whether it takes part in the form's validation: false while it is disabled. */
  get willValidate(): boolean {
    return this.#internals.willValidate;
  }

  /** The reason why the form can't be sent; empty if it can. */
  get validationMessage(): string {
    return this.#internals.validationMessage;
  }

  /** Returns whether the order may be placed, also in a page without a form. */
  checkValidity(): boolean {
    return this.#internals.checkValidity();
  }

  /** Like `checkValidity()`, and if it returns false, shows why and moves the focus there. */
  reportValidity(): boolean {
    return this.#internals.reportValidity();
  }

  /** @ignore */
  formAssociatedCallback(form: HTMLFormElement | null): void {
    this.#form?.removeEventListener("submit", this.#onSubmit, true);
    this.#form = form;
    form?.addEventListener("submit", this.#onSubmit, true);
  }

  /** @ignore */
  formDisabledCallback(disabled: boolean): void {
    this.isFieldsetDisabled = disabled;
    this.requestUpdate();
  }

  /**
   * Sets the CSS states, if the browser supports them, whether the form can be submitted, and its field.
   * @param hindrance why it can't
   * @param plan the value of the field `plan`, which the form submits unless there is a hindrance; none if it is empty
   */
  protected reflect(states: Record<string, boolean>, hindrance: ErrorCode | undefined, plan = ""): void {
    const { states: shown } = this.#internals;
    for (const [name, isOn] of Object.entries(states)) shown?.[isOn ? "add" : "delete"](name);
    this.#hindrance = hindrance;
    this.#internals.setValidity({ customError: !!hindrance }, hindrance && this.words.texts.errors[hindrance]);
    const fields = new FormData();
    if (plan && !hindrance) fields.set("plan", plan);
    this.#internals.setFormValue(fields);
  }

  readonly #onInvalid = (event: Event): void => {
    event.preventDefault();
    if (this.#hindrance) this.calls.show("order", this.#hindrance);
    if (this.#hindrance === "unsettled") this.renderRoot.querySelector<HTMLElement>("#without")?.focus();
    else this.focus();
  };

  /** Keeps the form, since the browser doesn't validate one with `novalidate`. */
  readonly #onSubmit = (event: SubmitEvent): void => {
    if (this.validity.valid || (event.submitter as HTMLButtonElement | null)?.formNoValidate) return;
    event.preventDefault();
    event.stopImmediatePropagation();
    this.reportValidity();
  };
}
