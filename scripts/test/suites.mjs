/**
 * The suites of tests. Each is one of vitest's projects.
 * @typedef {object} Suite
 * @property {string} folder with its vitest.config
 * @property {import("../build.mjs").PartName[]} needs the parts that its tests run, built before them
 * @property {boolean} [isBrowsing] whether its tests open pages
 * @property {boolean} [hasBrowserTests] whether it also has tests that run in a page (`*.browser.ts`)
 */

/** @satisfies {Record<string, Suite>} */
export const suites = {
  client: { folder: "packages/client", needs: ["client", "service"] },
  service: { folder: "packages/service", needs: ["service"] },
  checkout: { folder: "packages/checkout", needs: ["checkout", "service"] },
  widget: { folder: "packages/widget", needs: ["widget"], isBrowsing: true, hasBrowserTests: true },
  events: { folder: "packages/events", needs: ["events", "service"] },
  medusa: { folder: "packages/medusa", needs: ["service", "store"] },
  "medusa-events": { folder: "packages/medusa-events", needs: ["service", "store"] },
  vendure: { folder: "packages/vendure", needs: ["service", "vendure"] },
  whole: { folder: "test", needs: ["service", "store", "storefront"], isBrowsing: true },
};

/** @typedef {keyof typeof suites} SuiteName */
