import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import path from "node:path";
import { pathToFileURL } from "node:url";

const require = createRequire(import.meta.url);

/**
 * Serves a built site on this machine, with its own 404 page.
 *
 * @param {string} folder
 * @param {{ base: string, port: number }} options the path that it was built for; a port of 0 is any free one; if another is taken, the next free one
 *   serves
 * @returns {Promise<{ url: string, close: () => Promise<void> }>}
 */
export async function serveSite(folder, { base, port }) {
  const vite = createRequire(require.resolve("vitest/package.json")).resolve("vite");
  const { preview } = await import(pathToFileURL(vite).href);
  const notFound = await readFile(path.join(folder, "404.html"));
  const server = await preview({
    configFile: false,
    logLevel: "error",
    appType: "mpa",
    base,
    build: { outDir: folder },
    preview: { host: "127.0.0.1", port },
    plugins: /** @type {import("vite").Plugin[]} */ ([
      {
        name: "not-found",
        configurePreviewServer({ middlewares }) {
          middlewares.use(({ url = "/" }, response, next) => {
            const { pathname } = new URL(url, "http://site");
            const file = decodeURIComponent(pathname.slice(base.length)).replace(/(^|\/)$/, "$1index.html");
            if (pathname.startsWith(base) && existsSync(path.join(folder, file))) return next();
            response.writeHead(404, { "content-type": "text/html; charset=utf-8" }).end(notFound);
          });
        },
      },
    ]),
  });
  const address = server.httpServer.address();
  return { url: `http://127.0.0.1:${address.port}${base}`, close: () => server.close() };
}
