export type { EventsOptions } from "./options.js";
