const { Modules } = require("@medusajs/framework/utils");

/** Delivers an event again, as an event bus may do. */
module.exports.POST = async (req, res) => {
  await req.scope.resolve(Modules.EVENT_BUS).emit(req.body);
  res.json({});
};

/** Lists the webhooks that subscribers have received, and those that the bank was asked to read. */
module.exports.GET = async (_req, res) => {
  const { heard } = require("../../subscribers/hear.js");
  const { read } = require("../../providers/bank.js");
  res.json({ heard, read });
};
