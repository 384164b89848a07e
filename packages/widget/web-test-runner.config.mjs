import { fileURLToPath } from "node:url";
import { esbuildPlugin } from "@web/dev-server-esbuild";
import { chromeLauncher } from "@web/test-runner";
import { findBrowser } from "../../scripts/find-browser.mjs";
import { shop } from "./test/shop/shop.mjs";

const browser = await findBrowser();

export default {
  rootDir: fileURLToPath(new URL("../..", import.meta.url)),
  files: ["test/*.browser.ts"],
  concurrency: 1,
  nodeResolve: { exportConditions: ["development"] },
  plugins: [esbuildPlugin({ ts: true, tsconfig: fileURLToPath(new URL("tsconfig.json", import.meta.url)) })],
  middleware: [shop],
  browsers: [
    chromeLauncher({
      launchOptions: {
        executablePath: browser.path,
        args: browser.args,
        env: { ...process.env, ...browser.env },
      },
    }),
  ],
  // The development build of Lit warns of misuse; that it is the development build isn't news.
  filterBrowserLogs: ({ args }) => !args.some((text) => String(text).includes("lit.dev/msg/dev-mode")),
  testFramework: { config: { timeout: 10_000 } },
};
