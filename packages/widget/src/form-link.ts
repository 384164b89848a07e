import type { LitElement } from "lit";
import type { Calls } from "./calls.js";

/** Ties an element to the form around it: whether that may be sent, and that it waits for a call under way. */
export class FormLink {
  readonly internals: ElementInternals;
  #form: HTMLFormElement | null = null;
  /** What the form is to be sent by once the call is over; undefined where it isn't. */
  #submitter: HTMLElement | null | undefined;

  constructor(
    private readonly host: LitElement,
    private readonly calls: Calls,
  ) {
    this.internals = host.attachInternals();
  }

  /** Whether the form is sent once the call is over. */
  get isWaiting(): boolean {
    return this.#submitter !== undefined;
  }

  attach(form: HTMLFormElement | null): void {
    this.#form?.removeEventListener("submit", this.#onSubmit, true);
    this.#form = form;
    form?.addEventListener("submit", this.#onSubmit, true);
  }

  /** Shows states to a page's style sheet, where the browser has them. */
  show(all: Record<string, boolean>): void {
    const { states } = this.internals;
    for (const [name, isOn] of Object.entries(all)) isOn ? states?.add(name) : states?.delete(name);
  }

  /** Keeps the form from being sent, for a reason; without one, lets it. */
  refuse(reason: string | false): void {
    this.internals.setValidity(reason ? { customError: true } : {}, reason || "");
  }

  /** However often it is asked to meanwhile, the form is sent once, by what asked last. */
  readonly #onSubmit = async (event: SubmitEvent): Promise<void> => {
    const { calls, isWaiting, internals } = this;
    const submitter = event.submitter as HTMLButtonElement | null;
    const waits = calls.busy || isWaiting;
    // With `novalidate` the browser lets everything pass.
    if (!waits && (internals.validity.valid || submitter?.formNoValidate)) return;
    event.preventDefault();
    event.stopImmediatePropagation();
    if (!waits) return void internals.reportValidity();
    this.#submitter = submitter;
    if (isWaiting) return;
    this.host.requestUpdate();
    await calls.settled;
    // What became of the call is noted a moment after.
    await new Promise((resolve) => setTimeout(resolve));
    await this.host.updateComplete;
    const last = this.#submitter;
    this.#submitter = undefined;
    this.host.requestUpdate();
    if (!calls.error) this.#form?.requestSubmit(last);
  };
}
