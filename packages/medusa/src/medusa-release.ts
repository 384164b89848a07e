/**
 * The oldest release of Medusa that the plugin works with, as in the package's peer dependencies. If one attempt to
 * complete a cart fails late, older ones refund the captured payment by which another attempt has placed the order.
 */
export const OLDEST_MEDUSA = "2.15.5";

/**
 * Rejects a Medusa that is too old. npm rejects it at install; other package managers only warn.
 * @throws {TypeError} if it is older than `OLDEST_MEDUSA`
 */
export function checkMedusa(release: string = installedMedusa()): void {
  // Compare numbers, since 2.9 is older than 2.15.
  if (release.localeCompare(OLDEST_MEDUSA, "en", { numeric: true }) >= 0) return;
  const what = `@giftcard-pay/medusa needs Medusa ${OLDEST_MEDUSA} or newer; this store has ${release}.`;
  throw new TypeError(`${what} Upgrade all packages of Medusa (@medusajs/…) together.`);
}

const installedMedusa = (): string => (require("@medusajs/medusa/package.json") as { version: string }).version;
