/** Whole pages of a shop's for the tests, as its server makes them. */
import { render } from "@lit-labs/ssr";
import { collectResult } from "@lit-labs/ssr/lib/render-result.js";
import { html } from "lit";
import "../../dist/define.js";
import { loadLanguage } from "../../dist/index.js";

const STRICT = "default-src 'self'; require-trusted-types-for 'script'; trusted-types giftcard-pay";

/**
 * Middleware for the test server.
 *
 * `/shop/page?cart=…&lang=…`: the tag is rendered; its scripts come later, when the test says so.
 * `/shop/strict?cart=…&lang=…&script=…`: the tag and its script, under a strict policy.
 */
export async function serverPage(context, next) {
  const { pathname, searchParams } = new URL(context.url, "http://shop");
  const { cart, lang, script } = Object.fromEntries(searchParams);
  const endpoint = "/shop/store/giftcard-pay";
  if (pathname === "/shop/strict") {
    context.set("content-security-policy", STRICT);
    return write(
      context,
      lang,
      `<giftcard-pay endpoint="${endpoint}" cart="${cart}"></giftcard-pay><script type="module" src="${script}"></script>`,
    );
  }
  if (pathname !== "/shop/page") return next();
  await loadLanguage(lang);
  const tag = render(html`<giftcard-pay endpoint=${endpoint} cart=${cart} lang=${lang}></giftcard-pay>`);
  write(context, lang, await collectResult(tag));
}

function write(context, lang, body) {
  context.type = "html";
  context.body = `<!doctype html><html lang="${lang}"><title>Shop</title><body>${body}</body></html>`;
}
