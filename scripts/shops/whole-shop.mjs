/** Starts everything that a purchase needs, on free ports of 127.0.0.1 with throwaway databases. */
import { CleanUp, startCardService } from "./card-service.mjs";
import { createStoreDatabase, startMedusaStore } from "./medusa-store.mjs";

/** @typedef {import("./card-service.mjs").IssuedCard} IssuedCard */
/** @typedef {import("./card-service.mjs").GiftcardService} GiftcardService */

/**
 * @typedef {object} WholeShop
 * @property {GiftcardService} service
 * @property {import("./medusa-store.mjs").MedusaStore} store
 * @property {string | undefined} storefrontUrl
 * @property {() => Promise<void>} stop ends everything and removes its data; may be called more than once
 */

/**
 * Starts PostgreSQL, the gift card service in its sandbox environment, the Medusa store and, on request, its pages.
 *
 * @param {object} [options]
 * @param {boolean} [options.withStorefront]
 * @param {boolean} [options.withAdmin]
 * @param {string} [options.postgresUrl] a server to make the databases on; one of its own when left out
 * @param {(serviceUrl: string) => Promise<string>} [options.through] starts a proxy between the store and the service, and returns its URL
 * @param {(text: string) => void} [options.progress] receives the description of each step
 * @param {AbortSignal} [options.signal] ends the start early
 * @returns {Promise<WholeShop>}
 * @throws if a part doesn't start; everything is stopped first
 */
export async function startWholeShop({ postgresUrl, progress = () => {}, signal, ...parts } = {}) {
  const cleanUp = new CleanUp();
  const stop = () => cleanUp.run();
  const early = signal ? { signal } : {};
  try {
    const { serverUrl, service } = await startCardService({
      progress,
      cleanUp,
      ...(postgresUrl && { postgresUrl }),
      ...early,
    });
    progress("setting up the shop's database");
    const databaseUrl = await createStoreDatabase(serverUrl, early);

    progress("starting the Medusa store");
    return { service, stop, ...(await startPages({ ...parts, databaseUrl, service, cleanUp, ...early })) };
  } catch (error) {
    await stop();
    throw error;
  }
}

/**
 * Starts the store and its pages. The pages' address is known first, since the store lets only them call it.
 * @param {{ withStorefront?: boolean, withAdmin?: boolean, through?: (serviceUrl: string) => Promise<string>, databaseUrl: string, service: GiftcardService, cleanUp: CleanUp, signal?: AbortSignal }} options
 */
async function startPages({
  withStorefront = false,
  withAdmin = false,
  databaseUrl,
  service,
  through,
  cleanUp,
  signal,
}) {
  /** @type {{ backendUrl: string, publishableKey: string } | undefined} */
  let settings;
  let storefrontUrl;
  if (withStorefront) {
    const { serveStorefront } = await import("../../examples/medusa-store/storefront/serve.mjs");
    const storefront = await serveStorefront({ config: () => settings });
    cleanUp.add(() => storefront.close());
    storefrontUrl = storefront.url;
  }
  const store = await startMedusaStore({
    databaseUrl,
    giftcard: {
      baseUrl: (await through?.(service.url)) ?? service.url,
      apiKey: service.apiKey,
      companyId: service.companyId,
    },
    withAdmin,
    ...(storefrontUrl && { storefrontUrl }),
    ...(signal && { signal }),
  });
  cleanUp.add(() => store.stop());
  settings = { backendUrl: store.url, publishableKey: store.publishableKey };
  if (withAdmin) await service.createProvider("Ticketkantoor");
  return { store, storefrontUrl };
}
