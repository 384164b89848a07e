import { invalid } from "./stripe-objects.js";

/** What a call to Stripe carries: `metadata[session_id]=x` is `{ metadata: { session_id: "x" } }`. */
export interface StripeForm {
  readonly [name: string]: string | StripeForm | undefined;
}

/** Reads a form as Stripe does. */
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

/** @throws {StripeRefusal} 400 where the call carries a field that it doesn't have */
export function checkFields(form: StripeForm, known: readonly string[]): void {
  const unknown = Object.keys(form).find((name) => !known.includes(name));
  if (unknown === undefined) return;
  const message = `Received unknown parameter: ${unknown}`;
  throw invalid({ code: "parameter_unknown", param: unknown, message });
}

/** One value; an empty one is none. @throws {StripeRefusal} 400 where several are there */
export function textOf(form: StripeForm, name: string): string | undefined {
  const value = form[name];
  if (typeof value === "object") throw invalid({ param: name, message: `Invalid string: ${name}` });
  return value || undefined;
}

/** A whole number. @throws {StripeRefusal} 400 where it is something else */
export function numberOf(form: StripeForm, name: string): number | undefined {
  const text = textOf(form, name);
  if (text === undefined || /^\d+$/.test(text)) return text === undefined ? undefined : Number(text);
  throw invalid({ code: "parameter_invalid_integer", param: name, message: `Invalid integer: ${text}` });
}

/** The values below a name. */
export function textsOf(form: StripeForm, name: string): Record<string, string> {
  const value = form[name];
  const entries = typeof value === "object" ? Object.entries(value) : [];
  return Object.fromEntries(entries.map(([key, text]) => [key, String(text)]));
}
