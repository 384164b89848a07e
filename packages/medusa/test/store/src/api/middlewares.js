const { Modules } = require("@medusajs/framework/utils");

/**
 * A bank's webhook is looked at when it comes: Medusa waits five seconds before, whatever its payment module's
 * `webhook_delay` says, so it would never meet a page at the same moment.
 */
function lookAtOnce(req, _res, next) {
  req.scope.resolve(Modules.PAYMENT).options = { webhook_delay: 1 };
  next();
}

module.exports = { default: { routes: [{ matcher: "/hooks/payment/*", middlewares: [lookAtOnce] }] } };
