import type { MedusaContainer } from "@medusajs/framework/types";
import { ContainerRegistrationKeys } from "@medusajs/framework/utils";
import { contextOf } from "../context/context.js";
import { nameOf } from "../errors.js";
import { compareWithIssuer } from "../events/compare.js";

/** Looks each hour whether the issuer has what has changed in the shop. */
export default async function compareEvents(container: MedusaContainer): Promise<void> {
  if (!contextOf(container).settings.events) return;
  try {
    await compareWithIssuer(container);
  } catch (error) {
    container
      .resolve(ContainerRegistrationKeys.LOGGER)
      .warn(
        `giftcard events weren't compared with the issuer's list, which is done each hour: ${nameOf(error)}`,
      );
  }
}

export const config = { name: "giftcard-events-compare", schedule: "23 * * * *" };
