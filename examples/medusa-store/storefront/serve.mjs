import { fileURLToPath } from "node:url";
import { build, preview } from "vite";

const root = fileURLToPath(new URL(".", import.meta.url));

/** Builds the pages into `dist/`. The widget must be built. */
export async function buildStorefront() {
  await build({ root, logLevel: "warn" });
}

/**
 * Serves the built pages on 127.0.0.1 with the settings that they read when they load.
 *
 * @param {object} options
 * @param {() => { backendUrl: string, publishableKey: string } | undefined} options.config asked at each request
 * @param {number} [options.port] a free one when left out
 * @returns {Promise<{ url: string, close(): Promise<void> }>}
 */
export async function serveStorefront({ config, port = 0 }) {
  const settings = {
    name: "shop-settings",
    /** @param {import("vite").PreviewServer} server */
    configurePreviewServer(server) {
      server.middlewares.use("/config.json", (_request, response) => {
        const known = config();
        response.writeHead(known ? 200 : 503, {
          "content-type": "application/json",
          "cache-control": "no-store",
        });
        response.end(JSON.stringify(known ?? { error: "The shop is starting." }));
      });
    },
  };
  const server = await preview({
    root,
    configFile: false,
    logLevel: "warn",
    plugins: [settings],
    preview: { host: "127.0.0.1", port, strictPort: port !== 0, cors: false },
  });
  const address = server.httpServer.address();
  if (!address || typeof address === "string") throw new Error("The storefront has no port.");
  const close = () => {
    const closed = server.close();
    // A browser keeps its connections open, and would be waited for.
    if ("closeAllConnections" in server.httpServer) server.httpServer.closeAllConnections();
    return closed;
  };
  return { url: `http://127.0.0.1:${address.port}`, close };
}
