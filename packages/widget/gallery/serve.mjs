/** Serves the gallery with every state of both tags, on the tests' shop. */
import path from "node:path";
import { createServer } from "vite";
import { shop } from "../test/shop/shop.mjs";

/** Adapts the tests' shop, which is Koa middleware, to Vite, which uses plain Node middleware. */
async function middleware(req, res, next) {
  const context = {
    req,
    res,
    url: req.url,
    method: req.method,
    headers: req.headers,
    status: 200,
    type: "html",
    respond: true,
    body: "",
    set: (name, value) => res.setHeader(name, value),
  };
  let isOurs = true;
  await shop(context, () => {
    isOurs = false;
  });
  if (!isOurs) return next();
  if (!context.respond) return;
  const type = context.type === "json" ? "application/json" : "text/html";
  res.writeHead(context.status, { "content-type": type }).end(context.body);
}

/**
 * Serves the pages of a folder together with the tests' shop.
 *
 * @param {string} root the folder
 * @param {{ name: string, port?: number, plugins?: import("vite").PluginOption[], optimizeDeps?: object }} options `port`
 *   is by default any free port
 * @returns {Promise<{ url: string, close(): Promise<void> }>}
 */
export async function serveWithShop(root, { name, port = 0, plugins = [], optimizeDeps = {} }) {
  const cache = path.join(import.meta.dirname, "..", "..", "..", "node_modules", ".cache", "giftcard-pay");
  const server = await createServer({
    root,
    configFile: false,
    logLevel: "warn",
    cacheDir: path.join(cache, name),
    server: { port, host: "127.0.0.1" },
    optimizeDeps,
    plugins: [
      {
        name: "shop",
        configureServer: ({ middlewares }) => void middlewares.use((...all) => void middleware(...all)),
      },
      ...plugins,
    ],
  });
  await server.listen();
  return {
    url: `http://127.0.0.1:${server.httpServer?.address().port}/`,
    close: () => {
      // One of the states waits for a response that never comes.
      server.httpServer?.closeAllConnections();
      return server.close();
    },
  };
}

/** Serves the gallery. @param {number} [port] any free port by default */
export const serveGallery = (port = 0) => serveWithShop(import.meta.dirname, { name: "gallery", port });
