/** A browser without rendering: keeps cookies, follows redirects, and sends its origin. */
export class Visitor {
  /** @type {Map<string, string>} by host name, as browsers do: the port makes no difference */
  #cookies = new Map();

  /** @param {string} url @param {RequestInit} init @returns {Promise<Response>} */
  async #fetch(url, init) {
    const { hostname, origin } = new URL(url);
    const headers = { ...init.headers, origin, cookie: this.#cookies.get(hostname) ?? "" };
    const response = await fetch(url, { ...init, headers, redirect: "manual" });
    const cookie = response.headers.getSetCookie()[0];
    if (cookie) this.#cookies.set(hostname, String(cookie.split(";")[0]));
    const next = response.headers.get("location");
    if (!next) return response;
    return this.#fetch(new URL(next, url).href, { method: "GET" });
  }

  /** Sends a form. @param {string} url @param {Record<string, string>} fields @param {AbortSignal} [signal] */
  submit(url, fields, signal) {
    const body = new URLSearchParams(fields);
    return this.#page(url, { method: "POST", body, ...(signal && { signal }) });
  }

  /** @param {string} url */
  open(url) {
    return this.#page(url, { method: "GET" });
  }

  /** @param {string} url @param {RequestInit} init */
  async #page(url, init) {
    const response = await this.#fetch(url, init);
    const text = await response.text();
    if (!response.ok) throw new Error(`${response.url} answered ${response.status}: ${text}`);
    return { url: response.url, text };
  }

  /** Reads JSON. @param {string} url @returns {Promise<any>} */
  async read(url) {
    return JSON.parse((await this.open(url)).text);
  }

  /** Sends JSON. @param {string} url @param {unknown} body @returns {Promise<any>} */
  async send(url, body) {
    const headers = { "content-type": "application/json" };
    const response = await this.#fetch(url, { method: "POST", headers, body: JSON.stringify(body) });
    if (!response.ok) throw new Error(`${url} answered ${response.status}: ${await response.text()}`);
    return response.json();
  }
}
