/** Ranks the results of the site's search. */

/**
 * Returns the weight of a section in the search. Guides come before decisions and the project's own pages, and those before
 * the API reference, whose short sections would otherwise match best. The site calls it in the browser from its source text,
 * so it uses nothing outside of itself.
 *
 * @param {string} id the section's path on the site, with its anchor
 * @returns {number}
 */
export function weightOf(id) {
  if (id.includes("/api/")) return 0.2;
  return id.includes("/decisions/") || id.includes("/project/") ? 0.5 : 1;
}
