const { AsyncLocalStorage } = require("node:async_hooks");
const { Server } = require("node:http");
const { Modules } = require("@medusajs/framework/utils");
const { Client } = require("pg");

/** The number of statements that a call has sent to the database so far. */
const calls = new AsyncLocalStorage();
const query = Client.prototype.query;
Client.prototype.query = function count(...args) {
  const call = calls.getStore();
  if (call) call.statements += 1;
  return query.apply(this, args);
};

/** Answers with the number of a call's statements, if a test asks for it. It begins before every middleware. */
const { emit } = Server.prototype;
Server.prototype.emit = function count(event, req, res, ...rest) {
  if (event !== "request" || !req.headers["x-test-count"]) return emit.call(this, event, req, res, ...rest);
  const call = { statements: 0 };
  const { writeHead } = res;
  res.writeHead = (...args) => writeHead.apply(res.setHeader("x-test-statements", call.statements), args);
  return calls.run(call, () => emit.call(this, event, req, res, ...rest));
};

/**
 * Handles a bank's webhook at once. Medusa always waits five seconds, whatever its payment module's `webhook_delay` says,
 * so a webhook would never race with a page.
 */
function lookAtOnce(req, _res, next) {
  req.scope.resolve(Modules.PAYMENT).options = { webhook_delay: 1 };
  next();
}

/** A shop's own time limit of a call, if a test asks for it. */
function limitTime(req, res, next) {
  const limitMs = Number(req.headers["x-test-limit-ms"]);
  if (limitMs) setTimeout(() => res.headersSent || res.status(503).json({ code: "too_late" }), limitMs);
  next();
}

const routes = [
  { matcher: "/hooks/payment/*", middlewares: [lookAtOnce] },
  { matcher: "/store/*", middlewares: [limitTime] },
];
module.exports = { default: { routes } };
