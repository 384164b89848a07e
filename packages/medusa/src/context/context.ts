import type { MedusaContainer } from "@medusajs/framework/types";
import type { GiftcardService } from "../modules/giftcard/service.js";
import { GIFTCARD_MODULE } from "../names.js";

/** The objects that all functions of the plugin share. The module creates them, and Medusa's container holds them. */
export type GiftcardContext = Omit<GiftcardService, "__hooks">;

export const contextOf = (container: MedusaContainer): GiftcardContext =>
  container.resolve<GiftcardContext>(GIFTCARD_MODULE);
