/** Serves whole pages of a shop for the tests. */
import { readFile } from "node:fs/promises";
import { render } from "@lit-labs/ssr";
import { collectResult } from "@lit-labs/ssr/lib/render-result.js";
import { html } from "lit";
import "../../dist/define.js";
import { loadLanguage } from "../../dist/index.js";

const STRICT = "default-src 'self'; require-trusted-types-for 'script'; trusted-types lit-html";

/**
 * Middleware for the test server.
 *
 * `/shop/page?cart=…&lang=…`: the server-rendered tag. The test adds its scripts later.
 * `/shop/strict?cart=…&lang=…&script=…`: the tag and its script under a strict content security policy.
 * `/shop/late/{ms}/{file}`: a file of the build. Language files are delayed; with `fails…` for `ms`, the first request
 * fails.
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
  if (pathname.startsWith("/shop/late/")) return serveLate(context, ...pathname.split("/").slice(3));
  if (pathname !== "/shop/page") return next();
  await loadLanguage(lang);
  const tag = render(html`<giftcard-pay endpoint=${endpoint} cart=${cart} lang=${lang}></giftcard-pay>`);
  write(context, lang, await collectResult(tag));
}

const failed = new Set();

async function serveLate(context, late, name) {
  context.type = "text/javascript";
  if (/\.[a-z]{2}\.js$/.test(name)) {
    if (late.startsWith("fails") && !failed.has(late)) {
      failed.add(late);
      context.status = 503;
      return;
    }
    await new Promise((resolve) => setTimeout(resolve, Number(late) || 0));
  }
  context.body = await readFile(new URL(`../../dist/${name}`, import.meta.url), "utf8");
}

function write(context, lang, body) {
  context.type = "html";
  context.body = `<!doctype html><html lang="${lang}"><title>Shop</title><body>${body}</body></html>`;
}
