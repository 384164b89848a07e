import "../src/define.js";
import type { GiftcardPay } from "../src/define.js";
import { builtInLanguages } from "../src/messages/index.js";
import { endpoint, makeCart, poor, rich } from "./shop-client.js";
import { type Shopper, withShopper } from "./shopper.js";
import { type State, states, Visit } from "./states.js";
import themes from "./themes.css?raw";

const choices = {
  theme: ["plain", "dark", "checkout", "dense", "hostile"],
  lang: builtInLanguages(),
  dir: ["ltr", "rtl"],
};
type Choice = keyof typeof choices;

const query = new URLSearchParams(location.search);
const element = <Found extends HTMLElement>(id: string) => document.getElementById(id) as Found;
const initial = {
  theme: matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "plain",
  lang: "en",
  dir: "ltr",
};
const chosen = (name: Choice) => query.get(name) ?? initial[name];

/** Puts the choice into the URL, so that each view can be linked to. */
function choose(name: Choice, value: string): void {
  query.set(name, value);
  location.search = query.toString();
}

function showChoices(): void {
  for (const name of Object.keys(choices) as Choice[]) {
    const select = element<HTMLSelectElement>(name);
    select.append(...choices[name].map((value) => new Option(value, value, false, value === chosen(name))));
    select.addEventListener("change", () => choose(name, select.value));
  }
  document.documentElement.lang = chosen("lang");
  document.documentElement.dir = chosen("dir");
  document.documentElement.className = `theme-${chosen("theme")}`;
}

/** Shows the HTML of the tag with the custom properties of the theme, to copy. */
function showCode(): void {
  const name = chosen("theme");
  const rules = themes.match(/\.theme-[^{]*giftcard-pay[^{]*\{[^}]*\}/g) ?? [];
  const css = rules
    .filter((rule) => rule.startsWith(`.theme-${name} `))
    .map((rule) => rule.replace(`.theme-${name} `, "").replace(":is(giftcard-pay, giftcard-balance)", "giftcard-pay"));
  const html = `<link rel="stylesheet" href="/giftcard-pay.css" />
<script type="module" src="/giftcard-pay.standalone.js"></script>

<giftcard-pay
  endpoint="https://shop.example/store/giftcard-pay"
  cart="cart_01J…"
  publishable-key="pk_…"
  lang="${chosen("lang")}"
></giftcard-pay>`;
  const code = [html, ...(css.length > 0 ? [`<style>\n${css.join("\n")}\n</style>`] : [])].join("\n\n");
  element("code").textContent = code;
  element("copy").addEventListener("click", () => navigator.clipboard.writeText(code));
}

function log(event: CustomEvent): void {
  const line = document.createElement("li");
  const { summary: _, ...detail } = event.detail;
  line.textContent = `${event.type} ${JSON.stringify(detail)}`;
  element("log").prepend(line);
}

async function tryOut(): Promise<void> {
  element("cards").append(
    ...[rich, poor].map(({ number, pin, balanceCents }) => {
      const item = document.createElement("li");
      const code = document.createElement("code");
      code.textContent = `${number} ${pin}`;
      item.append(code, `, balance ${(balanceCents / 100).toFixed(2)}`);
      return item;
    }),
  );
  const tag = document.createElement("giftcard-pay");
  Object.assign(tag, { endpoint, cart: await makeCart(), publishableKey: "pk_test" });
  for (const type of ["ready", "quote", "before-apply", "applied", "removed", "total", "error"])
    tag.addEventListener(`giftcard-${type}`, (event) => log(event as CustomEvent));
  element("live").append(tag);
}

async function show(state: State, shopper: Shopper): Promise<void> {
  const section = document.createElement("section");
  section.className = "state";
  const title = document.createElement("h2");
  title.textContent = state.title;
  title.lang = "en";
  section.append(title);
  element("states").append(section);
  const cart = await makeCart(state.cart);
  const tag = document.createElement(state.tag ?? "giftcard-pay");
  Object.assign(tag, { endpoint, headers: { "x-cart": cart }, ...(!state.tag && { cart }) });
  section.append(tag);
  await tag.updateComplete;
  if (!state.tag && !state.isLoading) await (tag as GiftcardPay).refresh();
  await state.act?.(new Visit(tag, shopper), cart);
}

showChoices();
showCode();
const only = query.get("only");
document.documentElement.style.fontSize = query.get("size") ?? "";
document.documentElement.style.inlineSize = query.get("width") ?? "";
await tryOut();
await withShopper(query.get("by"), async (shopper) => {
  // One after another, since some of them move the focus.
  for (const state of states) if (!only || state.title.startsWith(only)) await show(state, shopper);
});
(document.activeElement as HTMLElement | null)?.blur();
scrollTo(0, 0);
document.documentElement.dataset.ready = "yes";
