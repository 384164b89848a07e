import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { readBlocks } from "../../../test/support/page-blocks.js";
import { sharedShop } from "./support/shop.js";

test("the guide by curl leads from a cart to a paid order, with the answers that it shows", async () => {
  const { storefront, service, medusa, balanceCents } = await sharedShop("by-line");
  const card = await service.issueCard({ balanceCents: 7500 });
  const { regions } = await storefront.ok("GET", "/store/regions");
  const { products } = await storefront.ok("GET", "/store/products?handle=summer-night-festival&fields=variants.id");
  /** The reader's values, by their placeholders in the page. */
  const values = new Map<string, string>([
    ["http://localhost:9000", medusa.url],
    ["pk_…", medusa.publishableKey],
    ["reg_…", regions[0].id],
    ["variant_…", products[0].variants[0].id],
    ["6064…", card.cardNumber],
    ["004711", card.pin],
  ]);
  let settings = "";

  async function run(block: string): Promise<unknown> {
    const script = [...values].reduce((text, [placeholder, value]) => text.replaceAll(placeholder, () => value), block);
    settings += `${script.match(/^([A-Z]+=|call\(\)).*$/gm)?.join("\n") ?? ""}\n`;
    const { stdout } = await promisify(execFile)("sh", ["-euc", settings + script]);
    return stdout === "" ? undefined : JSON.parse(stdout);
  }

  /** Compares an answer with the page's, and keeps its values for later commands. */
  function compare(shown: unknown, answer: unknown, name = ""): void {
    if (typeof shown === "string" && shown.endsWith("…")) {
      expect(answer, name).toEqual(expect.stringMatching(`^${shown.slice(0, -1)}.`));
      if (name === "plan") values.set('"giftcard_plan": "…"', `"giftcard_plan": "${answer}"`);
      else if (shown !== "…") values.set(shown, String(answer));
    } else if (Array.isArray(shown))
      // The shop may have more than the page's, such as further shipping options.
      for (const [at, one] of shown.entries()) {
        const like = (found: typeof one) =>
          Object.keys(one).every((key) => !Number.isInteger(one[key]) || found[key] === one[key]);
        compare(one, (answer as (typeof one)[]).find(like) ?? (answer as unknown[])[at], name);
      }
    else if (typeof shown === "object" && shown !== null)
      for (const [key, value] of Object.entries(shown)) compare(value, (answer as Record<string, unknown>)[key], key);
    else expect(answer, name).toBe(shown);
  }

  let answer: unknown;
  for (const { language, text } of await readBlocks("docs/medusa-curl.md"))
    if (language === "json") compare(JSON.parse(text), answer);
    else answer = await run(text);
  expect(await balanceCents(card)).toBe(2500);
});
