/** Serves the gallery: every state of both tags, over the tests' shop. `npm run widget -- --port 5173` */
import path from "node:path";
import { pathToFileURL } from "node:url";
import { createServer } from "vite";
import { command, interrupted, readPort } from "../../../scripts/command.mjs";
import { shop } from "../test/shop/shop.mjs";

/** The tests' shop speaks Koa; Vite speaks plain Node. */
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
 * Serves a folder's pages with the tests' shop behind them.
 *
 * @param {string} root the folder
 * @param {{ name: string, port?: number, plugins?: import("vite").PluginOption[], optimizeDeps?: object }} options the port
 *   is a free one when left out
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
      // One of the states waits for an answer that doesn't come.
      server.httpServer?.closeAllConnections();
      return server.close();
    },
  };
}

/** @param {number} [port] a free one when left out */
export const serveGallery = (port = 0) => serveWithShop(import.meta.dirname, { name: "gallery", port });

const HELP = `Serves the widget's gallery on this machine: each state of both tags, and themes.

  npm run widget                  on port 5173, or the next free one; Ctrl-C stops it
  npm run widget -- --port 8080   on another port; 0 for any free one
`;

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  const options = /** @type {const} */ ({ port: { type: "string", default: "5173" } });
  await command({ help: HELP, options }, async ({ values, signal, say }) => {
    const gallery = await serveGallery(readPort(values.port));
    say(`The gallery: ${gallery.url}\nCtrl-C stops it.`);
    await interrupted(signal);
    await gallery.close();
  });
}
