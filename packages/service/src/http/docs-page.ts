import fs from "node:fs/promises";
import { createRequire } from "node:module";
import path from "node:path";
import type { Env, Hono } from "hono";

const PAGE = `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>Gift card service: the interface</title>
    <link rel="stylesheet" href="/docs/swagger-ui.css">
    <link rel="icon" type="image/png" href="/docs/favicon-32x32.png">
  </head>
  <body>
    <div id="swagger-ui"></div>
    <script src="/docs/swagger-ui-bundle.js"></script>
    <script src="/docs/start.js"></script>
  </body>
</html>
`;

// validatorUrl null: nothing is sent to another host.
const START = `SwaggerUIBundle({
  url: "/openapi.json",
  dom_id: "#swagger-ui",
  validatorUrl: null,
  deepLinking: true,
  docExpansion: "list",
  defaultModelsExpandDepth: -1,
});
`;

/** Only what comes from here runs or is loaded; the style sheet draws its icons from data: addresses. */
const POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; " +
  "base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

const SCRIPT_TYPE = "text/javascript; charset=utf-8";
const FILES: Record<string, string> = {
  "swagger-ui.css": "text/css; charset=utf-8",
  "swagger-ui-bundle.js": SCRIPT_TYPE,
  "favicon-32x32.png": "image/png",
};

/** The page that shows the interface, from the package alone: no other host has a part in it. */
export function docsRoutes<E extends Env>(app: Hono<E>): void {
  const headers = (type: string) => ({
    "Content-Type": type,
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
  });
  for (const page of ["/docs", "/docs/"] as const) {
    app.get(page, (c) => c.body(PAGE, 200, headers("text/html; charset=utf-8")));
  }
  app.get("/docs/start.js", (c) => c.body(START, 200, headers(SCRIPT_TYPE)));
  const folder = path.dirname(createRequire(import.meta.url).resolve("swagger-ui-dist/package.json"));
  for (const [file, type] of Object.entries(FILES)) {
    app.get(`/docs/${file}`, async (c) => {
      const content = await fs.readFile(path.join(folder, file));
      return c.body(new Uint8Array(content), 200, { ...headers(type), "Cache-Control": "max-age=3600" });
    });
  }
}
