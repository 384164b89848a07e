/** The plugin's own recovery, when a test asks for it. */
const recover = require("../../../../../../.medusa/server/src/jobs/recover-giftcards.js").default;

exports.POST = async (req, res) => {
  await recover(req.scope);
  res.json({});
};
