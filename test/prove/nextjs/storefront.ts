import { cp, mkdtemp, rm } from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import { runNode, startNode } from "../../../scripts/lib/process.mjs";
import { outsideEnv, packPackages, runNpm } from "../../../scripts/packed/pack.mjs";
import type { CleanUp } from "../../../scripts/shops/card-service.mjs";
import type { MedusaStore } from "../../../scripts/shops/medusa-store.mjs";

const addToStorefront = path.resolve(import.meta.dirname, "../../../packages/medusa/bin/giftcard-medusa.js");
const notCopied = new Set(["node_modules", ".next", ".git", "tsconfig.tsbuildinfo"]);

export interface PrepareOptions {
  /** The folder of an unmodified Medusa storefront, with its package.json. */
  readonly source: string;
  /** A working folder that is kept, which makes the next installation faster. Default: a temporary folder. */
  readonly workshop?: string;
  readonly cleanUp: CleanUp;
  readonly say: (text: string) => void;
  readonly signal: AbortSignal;
}

/** Copies the storefront, adds gift cards with our command, and installs the packed widget. @returns the folder */
export async function prepareStorefront({ source, workshop, cleanUp, say, signal }: PrepareOptions): Promise<string> {
  const scratch = workshop ?? (await mkdtemp(path.join(os.tmpdir(), "giftcard-nextjs-")));
  if (!workshop) cleanUp.add(() => rm(scratch, { recursive: true, force: true }));
  const folder = path.join(scratch, "storefront");
  await rm(path.join(folder, "src"), { recursive: true, force: true });
  await cp(source, folder, { recursive: true, filter: (file) => !notCopied.has(path.basename(file)) });
  say("adding gift cards to a copy of the storefront");
  await runNode({
    name: "giftcard-medusa storefront",
    args: [addToStorefront, "storefront", folder],
    cwd: folder,
    signal,
  });
  const tarballs = await packPackages(["widget"], path.join(scratch, "tarballs"), signal);
  say("installing the storefront, which takes a minute or more");
  const packages = [...Object.values(tarballs), "@lit/react"];
  // The storefront's own packages have conflicting peer dependencies on React.
  await runNpm(["install", "--legacy-peer-deps", ...packages], { cwd: folder, signal });
  return folder;
}

export interface StartOptions extends Omit<PrepareOptions, "source" | "workshop"> {
  readonly port: number;
  readonly store: MedusaStore;
  readonly stripeKey?: string;
}

/** Builds the storefront and starts it with this shop as its backend. @returns its URL */
export async function startStorefront(
  folder: string,
  { port, store, stripeKey, cleanUp, say, signal }: StartOptions,
): Promise<string> {
  const url = `http://localhost:${port}`;
  const env = {
    ...outsideEnv(),
    NODE_ENV: "production",
    MEDUSA_BACKEND_URL: store.url,
    NEXT_PUBLIC_MEDUSA_BACKEND_URL: store.url,
    NEXT_PUBLIC_MEDUSA_PUBLISHABLE_KEY: store.publishableKey,
    NEXT_PUBLIC_BASE_URL: url,
    NEXT_PUBLIC_DEFAULT_REGION: "nl",
    ...(stripeKey && { NEXT_PUBLIC_STRIPE_KEY: stripeKey }),
    NEXT_TELEMETRY_DISABLED: "1",
  };
  const next = path.join(folder, "node_modules/next/dist/bin/next");
  say("building the storefront, which takes a minute or more");
  await runNode({ name: "next build", args: [next, "build"], cwd: folder, env, signal });
  await checkTypes(folder, signal);
  const server = await startNode({
    name: "The storefront",
    args: [next, "start", "-p", String(port)],
    cwd: folder,
    env,
    ready: /Ready in/,
    signal,
  });
  cleanUp.add(() => server.stop());
  return url;
}

/** Checks the types of our files, which the storefront's build does not. @throws if they have an error */
async function checkTypes(folder: string, signal: AbortSignal): Promise<void> {
  const tsc = path.join(folder, "node_modules/typescript/bin/tsc");
  const said = await runNode({ name: "tsc", args: [tsc, "--noEmit"], cwd: folder, signal }).catch(String);
  const ours = said.split("\n").filter((line) => line.includes("gift-cards"));
  if (ours.length > 0) throw new Error(`The added files have type errors:\n${ours.join("\n")}`);
}
