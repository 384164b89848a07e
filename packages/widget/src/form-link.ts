import type { LitElement } from "lit";
import type { Calls } from "./calls.js";

/** Connects an element to the form around it: blocks the form's submission, or delays it until a call has ended. */
export class FormLink {
  readonly internals: ElementInternals;
  #form: HTMLFormElement | null = null;
  /** The button of the delayed submission (null without a button); undefined if none is delayed. */
  #submitter: HTMLElement | null | undefined;

  constructor(
    private readonly host: LitElement,
    private readonly calls: Calls,
  ) {
    this.internals = host.attachInternals();
  }

  /** Whether the form will be submitted once the pending call has ended. */
  get isWaiting(): boolean {
    return this.#submitter !== undefined;
  }

  attach(form: HTMLFormElement | null): void {
    this.#form?.removeEventListener("submit", this.#onSubmit, true);
    this.#form = form;
    form?.addEventListener("submit", this.#onSubmit, true);
  }

  /** Sets the CSS states that are true and deletes the others, if the browser supports states. */
  show(all: Record<string, boolean>): void {
    const { states } = this.internals;
    for (const [name, isOn] of Object.entries(all)) isOn ? states?.add(name) : states?.delete(name);
  }

  /** Blocks the form's submission for a reason, or allows it again with `false`. */
  block(reason: string | false): void {
    this.internals.setValidity(reason ? { customError: true } : {}, reason || "");
  }

  /** Submits the form once after the call, by the button that was pressed last, however often the shopper presses. */
  readonly #onSubmit = async (event: SubmitEvent): Promise<void> => {
    const { calls, isWaiting, internals } = this;
    const submitter = event.submitter as HTMLButtonElement | null;
    const mustWait = calls.busy || isWaiting;
    // Checked here too, since the browser does not validate a form with `novalidate`.
    if (!mustWait && (internals.validity.valid || submitter?.formNoValidate)) return;
    event.preventDefault();
    event.stopImmediatePropagation();
    if (!mustWait) return void internals.reportValidity();
    this.#submitter = submitter;
    if (isWaiting) return;
    this.host.requestUpdate();
    await calls.settled;
    // The element handles the call's result in the next task.
    await new Promise((resolve) => setTimeout(resolve));
    await this.host.updateComplete;
    const last = this.#submitter;
    this.#submitter = undefined;
    this.host.requestUpdate();
    if (!calls.error) this.#form?.requestSubmit(last);
  };
}
