import { invalid } from "./stripe-objects.js";

/** The parameters of a call to Stripe: `metadata[session_id]=x` is `{ metadata: { session_id: "x" } }`. */
export interface StripeForm {
  readonly [name: string]: string | StripeForm | undefined;
}

/** Parses a form as Stripe does. */
export function readForm(text: string): StripeForm {
  const form: Record<string, unknown> = {};
  for (const [name, value] of new URLSearchParams(text)) {
    const path = name.split(/[[\]]+/).filter(Boolean);
    const last = path.pop() as string;
    let place = form;
    for (const part of path) place = (place[part] ??= {}) as Record<string, unknown>;
    place[last] = value;
  }
  return form as StripeForm;
}

/** @throws {StripeRefusal} 400 if the form contains an unknown field */
export function checkFields(form: StripeForm, known: readonly string[]): void {
  const unknown = Object.keys(form).find((name) => !known.includes(name));
  if (unknown === undefined) return;
  const message = `Received unknown parameter: ${unknown}`;
  throw invalid({ code: "parameter_unknown", param: unknown, message });
}

/** Returns a value; undefined if it is empty. @throws {StripeRefusal} 400 if it has nested values */
export function textOf(form: StripeForm, name: string): string | undefined {
  const value = form[name];
  if (typeof value === "object") throw invalid({ param: name, message: `Invalid string: ${name}` });
  return value || undefined;
}

/** Returns an integer. @throws {StripeRefusal} 400 if the value is something else */
export function numberOf(form: StripeForm, name: string): number | undefined {
  const text = textOf(form, name);
  if (text === undefined || /^\d+$/.test(text)) return text === undefined ? undefined : Number(text);
  throw invalid({ code: "parameter_invalid_integer", param: name, message: `Invalid integer: ${text}` });
}

/** Returns the values nested below a name. */
export function textsOf(form: StripeForm, name: string): Record<string, string> {
  const value = form[name];
  const entries = typeof value === "object" ? Object.entries(value) : [];
  return Object.fromEntries(entries.map(([key, text]) => [key, String(text)]));
}
