import type { MedusaContainer } from "@medusajs/framework/types";
import { ContainerRegistrationKeys } from "@medusajs/framework/utils";
import { recoverNow } from "../recovery/recovery.js";

/** Ends what crashes and lost answers left behind, and forgets sealed cards whose time has run out. */
export default async function recoverGiftcards(container: MedusaContainer): Promise<void> {
  try {
    await recoverNow(container);
  } catch (error) {
    const name = error instanceof Error ? `${error.name}: ${error.message}` : "unknown error";
    container
      .resolve(ContainerRegistrationKeys.LOGGER)
      .error(`giftcard recovery failed, it runs again in a minute: ${name}`);
  }
}

export const config = { name: "giftcard-recovery", schedule: "* * * * *" };
