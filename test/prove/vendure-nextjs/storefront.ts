import { cp, mkdtemp, rm } from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import { outsideEnv, packPackages, runNpm } from "../../../scripts/packed/pack.mjs";
import { runNode, startNode } from "../../../scripts/lib/process.mjs";
import type { CleanUp } from "../../../scripts/shops/card-service.mjs";

const addToStorefront = path.resolve(import.meta.dirname, "../../../packages/vendure/bin/giftcard-vendure.js");
const fonts = path.join(import.meta.dirname, "fonts.cjs");
const notCopied = new Set(["node_modules", ".next", ".git"]);

export interface StorefrontOptions {
  /** The folder of an unmodified starter, with its package.json. */
  readonly source: string;
  /** A working folder that is kept, which makes the next installation faster. Default: a temporary folder. */
  readonly workshop?: string;
  readonly cleanUp: CleanUp;
  readonly say: (text: string) => void;
  readonly signal: AbortSignal;
}

/** Copies the starter, adds gift cards with our command, and installs the packed widget. @returns the folder */
export async function prepareStorefront(options: StorefrontOptions): Promise<string> {
  const { source, workshop, cleanUp, say, signal } = options;
  const scratch = workshop ?? (await mkdtemp(path.join(os.tmpdir(), "giftcard-vendure-")));
  if (!workshop) cleanUp.add(() => rm(scratch, { recursive: true, force: true }));
  const folder = path.join(scratch, "storefront");
  await rm(path.join(folder, "src"), { recursive: true, force: true });
  await cp(source, folder, { recursive: true, filter: (file) => !notCopied.has(path.basename(file)) });
  say("adding gift cards to a copy of the storefront");
  const args = [addToStorefront, "storefront", folder];
  await runNode({ name: "giftcard-vendure storefront", args, cwd: folder, signal });
  const tarballs = await packPackages(["widget"], path.join(scratch, "tarballs"), signal);
  say("installing the storefront, which takes a minute or more");
  await runNpm(["install", ...Object.values(tarballs), "@lit/react"], { cwd: folder, signal });
  return folder;
}

/** Builds the storefront, which also checks its types, and starts it. @returns its URL */
export async function startStorefront(
  folder: string,
  { shopUrl, port, cleanUp, say, signal }: Omit<StorefrontOptions, "source"> & { shopUrl: string; port: number },
): Promise<string> {
  const env = {
    ...outsideEnv(),
    NODE_ENV: "production",
    VENDURE_SHOP_API_URL: `${shopUrl}/shop-api`,
    NEXT_PUBLIC_SITE_URL: `http://localhost:${port}`,
    NEXT_FONT_GOOGLE_MOCKED_RESPONSES: fonts,
    NEXT_TELEMETRY_DISABLED: "1",
  };
  const next = path.join(folder, "node_modules/next/dist/bin/next");
  say("building the storefront, which takes a minute or more");
  await runNode({ name: "next build", args: [next, "build"], cwd: folder, env, signal });
  const server = await startNode({
    ...{ name: "The storefront", args: [next, "start", "-p", String(port)], cwd: folder, env, signal },
    ready: /Ready in/,
  });
  cleanUp.add(() => server.stop());
  return `http://localhost:${port}`;
}
