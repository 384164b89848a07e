const { Modules } = require("@medusajs/framework/utils");

/** Delivers an event again, as an event bus may do. */
module.exports.POST = async (req, res) => {
  await req.scope.resolve(Modules.EVENT_BUS).emit(req.body);
  res.json({});
};
