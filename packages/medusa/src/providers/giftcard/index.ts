import { ModuleProvider, Modules } from "@medusajs/framework/utils";
import { GiftcardProvider } from "./provider.js";

export default ModuleProvider(Modules.PAYMENT, { services: [GiftcardProvider] });
