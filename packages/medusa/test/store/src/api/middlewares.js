const { Modules } = require("@medusajs/framework/utils");

/**
 * A bank's webhook is looked at when it comes: Medusa waits five seconds before, whatever its payment module's
 * `webhook_delay` says, so it would never meet a page at the same moment.
 */
function lookAtOnce(req, _res, next) {
  req.scope.resolve(Modules.PAYMENT).options = { webhook_delay: 1 };
  next();
}

/** A shop's own limit on the time of a call, where a test asks for it. */
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
