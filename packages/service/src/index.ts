export { checkMigrated, migrate, openPool } from "./database.js";
export { defaultTimeouts, type RunningServer, type Timeouts } from "./http/server.js";
export { Keyring } from "./keyring.js";
export { defaultLimits, type Limits } from "./limits/limits.js";
export { type Log, type LogLevel, openLog } from "./log.js";
export { exitCodes, OperatorError } from "./operator-error.js";
export { type EmbeddedPostgres, startThrowawayPostgres } from "./postgres/embedded.js";
export { openKeyring } from "./secrets.js";
export { type Environment, type RunningService, type ServiceOptions, startService } from "./service.js";
