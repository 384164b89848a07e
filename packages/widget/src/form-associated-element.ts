import type { PropertyDeclarations } from "lit";
import { FormLink } from "./form-link.js";
import { GiftcardElement } from "./giftcard-element.js";

/** An element that takes part in the validation, reset and disabled state of the form around it. */
export class FormAssociatedElement extends GiftcardElement {
  static readonly formAssociated = true;

  static override properties: PropertyDeclarations = { disabled: { type: Boolean, reflect: true } };

  /** Whether all fields and buttons are disabled. A disabled `<fieldset>` around the element disables them too. */
  disabled = false;

  protected readonly link: FormLink = new FormLink(this, this.calls);
  protected isFieldsetDisabled = false;

  constructor() {
    super();
    this.addEventListener("invalid", this.#onInvalid);
  }

  /** The form around it. The form waits for a pending call, and can't be sent while an entered card is not applied. */
  get form(): HTMLFormElement | null {
    return this.link.internals.form;
  }

  /** Invalid while a card is entered or checked, but not applied. */
  get validity(): ValidityState {
    return this.link.internals.validity;
  }

  /** Whether it takes part in the form's validation: false while it is disabled. */
  get willValidate(): boolean {
    return this.link.internals.willValidate;
  }

  /** The reason why the form can't be sent; empty if it can. */
  get validationMessage(): string {
    return this.link.internals.validationMessage;
  }

  /** Returns whether the form may be sent: no card is entered or checked without being applied. */
  checkValidity(): boolean {
    return this.link.internals.checkValidity();
  }

  /** Like `checkValidity()`, and if it returns false, shows why and moves the focus there. */
  reportValidity(): boolean {
    return this.link.internals.reportValidity();
  }

  /** @ignore */
  formAssociatedCallback(form: HTMLFormElement | null): void {
    this.link.attach(form);
  }

  /** @ignore */
  formDisabledCallback(disabled: boolean): void {
    this.isFieldsetDisabled = disabled;
    this.requestUpdate();
  }

  readonly #onInvalid = (event: Event): void => {
    event.preventDefault();
    this.calls.show("order", "unfinished");
    this.focus();
  };
}
