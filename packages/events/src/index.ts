export {
  checkEvents,
  checkRows,
  type EventFault,
  type FileReading,
  modelNameOf,
  type Reading,
  type ReadOptions,
  type UncheckedRow,
} from "./check.js";
export { DEFAULT_TIME_ZONE, isTimeZone } from "./clock.js";
export { type EventState, eventStates, isRetracted, type ShopEvent, type Venue } from "./event.js";
export { feed, feedItemOf, locationOf, readListing } from "./formats/feed.js";
export { type EventFormat, writeEvents } from "./formats/format.js";
export { json, readJson } from "./formats/json.js";
export { jsonLd, jsonLdOf, jsonLdText, missingForGoogle } from "./formats/json-ld.js";
export {
  hasBegun,
  newEventFaults,
  newEventInput,
  newEventJson,
  newEventLimits,
  type ServiceFacts,
} from "./newevent.js";
export { type EventDate, type ProductDetails, readProduct, type ShopProduct } from "./product.js";
export { type EventRow, type RowField, requiredFields, rowFields, rowOf } from "./row.js";
