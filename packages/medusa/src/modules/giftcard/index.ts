import { Module } from "@medusajs/framework/utils";
import { GIFTCARD_MODULE } from "../../names.js";
import { GiftcardService } from "./service.js";

export default Module(GIFTCARD_MODULE, { service: GiftcardService });
