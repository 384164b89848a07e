import { readFile } from "node:fs/promises";
import http from "node:http";
import path from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL(".", import.meta.url));
const dist = path.join(root, "dist");

/** @type {Record<string, string>} */
const contentTypes = {
  ".css": "text/css",
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript",
  ".svg": "image/svg+xml",
};

/** Builds the pages into `dist/`. The widget must be built. */
export async function buildStorefront() {
  const { build } = await import("vite");
  await build({ root, logLevel: "warn" });
}

/**
 * Serves the built pages on 127.0.0.1, with the settings that they read when they load.
 * Vite's preview server is not usable here: it exits the whole process on SIGTERM.
 *
 * @param {object} options
 * @param {() => { backendUrl: string, publishableKey: string } | undefined} options.config called for each request
 * @param {number} [options.port] any free port by default
 * @returns {Promise<{ url: string, close(): Promise<void> }>}
 */
export async function serveStorefront({ config, port = 0 }) {
  const server = http.createServer(async (request, response) => {
    const { url = "/" } = request;
    const pathname = URL.canParse(url, "http://localhost") ? new URL(url, "http://localhost").pathname : "/";
    if (pathname === "/config.json") {
      const known = config();
      response.writeHead(known ? 200 : 503, {
        "content-type": "application/json",
        "cache-control": "no-store",
      });
      response.end(JSON.stringify(known ?? { error: "The shop is starting." }));
      return;
    }
    // A path without a file is a route of the page.
    const page = (await readInside(pathname)) ?? (await readInside("/index.html"));
    response.writeHead(page ? 200 : 404, page && { "content-type": page.contentType });
    response.end(page?.content);
  });
  await new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, "127.0.0.1", () => resolve(undefined));
  });
  const close = () =>
    new Promise((resolve) => {
      server.close(() => resolve(undefined));
      // Otherwise close() would wait for the connections that browsers keep open.
      server.closeAllConnections();
    });
  const address = /** @type {import("node:net").AddressInfo} */ (server.address());
  return { url: `http://127.0.0.1:${address.port}`, close };
}

/** @param {string} pathname from a URL, which has already resolved any `..` */
async function readInside(pathname) {
  const contentType = contentTypes[path.extname(pathname)];
  if (!contentType) return undefined;
  const content = await readFile(path.join(dist, pathname)).catch(() => undefined);
  return content && { content, contentType };
}
