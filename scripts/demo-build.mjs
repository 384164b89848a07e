import { buildStore } from "./medusa-store.mjs";

/** @param {{ withStorefront: boolean, withAdmin: boolean, progress: (text: string) => void, signal?: AbortSignal }} options */
export async function buildForDemo({ withStorefront, withAdmin, progress, signal }) {
  progress("building");
  await buildStore({ withAdmin, ...(signal && { signal }) });
  if (withStorefront) await (await import("../examples/medusa-store/storefront/serve.mjs")).buildStorefront();
}
