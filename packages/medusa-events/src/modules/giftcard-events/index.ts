import { Module } from "@medusajs/framework/utils";
import { EVENTS_MODULE } from "../../context.js";
import { EventsService } from "./service.js";

export default Module(EVENTS_MODULE, { service: EventsService });
