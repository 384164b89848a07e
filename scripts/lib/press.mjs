/**
 * Presses a part of a page with a key, once a person could: it is visible, enabled, and not covered.
 *
 * @param {import("playwright-core").Locator} part
 * @param {string} [key] `Enter` by default; radio buttons and checkboxes need a space
 * @param {{ timeout?: number }} [limit]
 * @returns {Promise<void>}
 */
export async function press(part, key = "Enter", limit = {}) {
  const page = part.page();
  await part.hover({ trial: true, ...limit });
  const enabled = part.and(page.locator(":not(:disabled)"));
  await enabled.waitFor(limit);
  await enabled.focus(limit);
  await page.keyboard.press(key);
}
