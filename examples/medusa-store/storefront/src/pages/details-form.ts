import { html, type TemplateResult } from "lit";
import type { Address, Cart } from "../shop.js";

const COUNTRIES = { nl: "Netherlands", be: "Belgium", de: "Germany", fr: "France" };

const KEPT = "night-owl-details";

/** The form for the customer and the delivery address. Its values are stored for this tab, and sent with the order. */
export function detailsForm(cart: Cart, submit: (event: SubmitEvent) => void): TemplateResult {
  const kept: Record<string, string> = JSON.parse(sessionStorage.getItem(KEPT) ?? "{}");
  const known: Record<string, unknown> = {
    email: cart.email,
    ...cart.shipping_address,
    ...kept,
  };
  const keep = (event: Event) => {
    const form = event.currentTarget as HTMLFormElement;
    sessionStorage.setItem(KEPT, JSON.stringify(Object.fromEntries(new FormData(form))));
  };
  const field = (name: keyof Address, label: string, autocomplete: string, wide = false) =>
    html`<label class=${wide ? "wide" : ""}
      >${label}<input name=${name} autocomplete=${autocomplete} required .value=${known[name] ?? ""}
    /></label>`;
  return html`<form id="details" class="fields" @change=${keep} @submit=${submit}>
    <label class="wide"
      >E-mail<input name="email" type="email" autocomplete="email" required .value=${known.email ?? ""}
    /></label>
    ${field("first_name", "First name", "given-name")} ${field("last_name", "Last name", "family-name")}
    ${field("address_1", "Street and number", "street-address", true)} ${field("postal_code", "Postcode", "postal-code")}
    ${field("city", "City", "address-level2")}
    <label class="wide"
      >Country<select name="country_code" autocomplete="country">
        ${Object.entries(COUNTRIES).map(
          ([code, name]) =>
            html`<option value=${code} ?selected=${code === (known.country_code ?? "nl")}>${name}</option>`,
        )}
      </select></label
    >
  </form>`;
}

/** Returns the values of the form. If one is missing, shows that and returns undefined. */
export function readDetails(within: HTMLElement): { email: string; address: Address } | undefined {
  const form = within.querySelector<HTMLFormElement>("#details");
  if (!form?.reportValidity()) return undefined;
  const { email = "", ...address } = Object.fromEntries(
    [...new FormData(form)].map(([name, value]) => [name, String(value).trim()]),
  );
  return { email, address: address as unknown as Address };
}
