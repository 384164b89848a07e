/** Builds the gallery as static files, with a simulated shop in the page. */
import { build } from "vite";

/**
 * @param {string} folder the output folder; it is emptied first
 * @param {{ home: string }} options the relative URL of the site that the gallery belongs to
 */
export const buildGallery = (folder, { home }) =>
  build({
    root: import.meta.dirname,
    configFile: false,
    logLevel: "warn",
    base: "./",
    build: { outDir: folder, emptyOutDir: true, target: "es2022", modulePreload: false },
    plugins: [
      {
        name: "page-shop",
        transformIndexHtml: {
          order: "pre",
          handler: (html) =>
            html
              .replace('<script type="module"', '<script type="module" src="./page-shop.ts"></script>$&')
              .replace("<h1>giftcard-pay</h1>", `<h1><a href="${home}">giftcard-pay</a></h1>`),
        },
      },
    ],
  });
