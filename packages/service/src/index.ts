export { exitCodes, OperatorError } from "./operator-error.js";
export { type EmbeddedPostgres, startThrowawayPostgres } from "./postgres/embedded.js";
