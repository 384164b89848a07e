import type { LitElement } from "lit";
import type { Calls } from "./calls.js";

/** Ties an element to the form around it: whether that may be sent, and that it waits for a call under way. */
export class FormLink {
  readonly internals: ElementInternals;
  #form: HTMLFormElement | null = null;

  constructor(
    private readonly host: LitElement,
    private readonly calls: Calls,
  ) {
    this.internals = host.attachInternals();
  }

  attach(form: HTMLFormElement | null): void {
    this.#form?.removeEventListener("submit", this.#onSubmit, true);
    this.#form = form;
    form?.addEventListener("submit", this.#onSubmit, true);
  }

  /** Shows states to a page's style sheet. */
  show(all: Record<string, boolean>): void {
    const { states } = this.internals;
    for (const [name, isOn] of Object.entries(all)) isOn ? states.add(name) : states.delete(name);
  }

  /** Keeps the form from being sent, for a reason; without one, lets it. */
  refuse(reason: string | false): void {
    this.internals.setValidity(reason ? { customError: true } : {}, reason || "");
  }

  readonly #onSubmit = async (event: SubmitEvent): Promise<void> => {
    const { calls } = this;
    if (!calls.busy) return;
    event.preventDefault();
    event.stopImmediatePropagation();
    await calls.settled;
    // What became of the call is noted a moment after.
    await new Promise((resolve) => setTimeout(resolve));
    await this.host.updateComplete;
    if (!calls.error) this.#form?.requestSubmit(event.submitter);
  };
}
