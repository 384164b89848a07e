/** Makes the gallery into files for any web server, with its shop in the page. */
import { build } from "vite";

/**
 * @param {string} folder where it is written; it is emptied first
 * @param {{ home: string }} options the address of what the gallery is a part of, from its own
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
