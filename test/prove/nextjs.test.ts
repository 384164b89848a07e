// @module-tag long
import path from "node:path";
import { expect, test } from "vitest";
import { tryStorefront } from "./nextjs/run.js";

const MINUTE = 60_000;

/**
 * Medusa's own storefront isn't in the npm registry: `npm run prove -- nextjs FOLDER` buys there. This one has the parts of it that
 * our files use.
 */
test(
  "a production build of a storefront sells, and shows why an order was not placed",
  async ({ signal }) => {
    const source = path.resolve(import.meta.dirname, "nextjs/small-storefront");
    const said: string[] = [];
    const wrong = await tryStorefront({ source, hasStripe: false, say: (text) => void said.push(text), signal });
    expect(wrong, said.join("\n")).toEqual([]);
  },
  15 * MINUTE,
);
