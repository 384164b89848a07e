import { html, type TemplateResult } from "lit";
import type { Address, Cart } from "../shop.js";

const COUNTRIES = { nl: "Netherlands", be: "Belgium", de: "Germany", fr: "France" };

/** Who buys, and where to send it. */
export function detailsForm(cart: Cart): TemplateResult {
  const address = cart.shipping_address;
  const field = (name: keyof Address, label: string, autocomplete: string, wide = false) =>
    html`<label class=${wide ? "wide" : ""}
      >${label}<input name=${name} autocomplete=${autocomplete} required .value=${address?.[name] ?? ""}
    /></label>`;
  return html`<form id="details" class="fields">
    <label class="wide"
      >E-mail<input name="email" type="email" autocomplete="email" required .value=${cart.email ?? ""}
    /></label>
    ${field("first_name", "First name", "given-name")} ${field("last_name", "Last name", "family-name")}
    ${field("address_1", "Street and number", "street-address", true)} ${field("postal_code", "Postcode", "postal-code")}
    ${field("city", "City", "address-level2")}
    <label class="wide"
      >Country<select name="country_code" autocomplete="country">
        ${Object.entries(COUNTRIES).map(
          ([code, name]) =>
            html`<option value=${code} ?selected=${code === (address?.country_code ?? "nl")}>${name}</option>`,
        )}
      </select></label
    >
  </form>`;
}

/** Reads the form, or shows what is missing and gives nothing. */
export function readDetails(within: HTMLElement): { email: string; address: Address } | undefined {
  const form = within.querySelector<HTMLFormElement>("#details");
  if (!form?.reportValidity()) return undefined;
  const { email = "", ...address } = Object.fromEntries(
    [...new FormData(form)].map(([name, value]) => [name, String(value).trim()]),
  );
  return { email, address: address as unknown as Address };
}
