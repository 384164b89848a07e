/** Keeps Vue from reading `{{` in a page's text and inline code as an expression. @param {any} md VitePress' instance of markdown-it */
export function keepBraces(md) {
  const { escapeHtml } = md.utils;
  const shown = (/** @type {string} */ text) => escapeHtml(text).replaceAll("{{", "&#123;&#123;");
  md.renderer.rules.text = (/** @type {any} */ tokens, /** @type {number} */ index) => shown(tokens[index].content);
  md.renderer.rules.code_inline = (/** @type {any} */ tokens, /** @type {number} */ index) =>
    `<code v-pre>${escapeHtml(tokens[index].content)}</code>`;
}
