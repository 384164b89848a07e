const { Modules } = require("@medusajs/framework/utils");

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
