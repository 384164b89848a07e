const { completeCartWorkflow } = require("@medusajs/medusa/core-flows");
const { MedusaError } = require("@medusajs/framework/utils");

/** Takes the hooks that the test names, as another plugin of the shop would. */
for (const name of (process.env.TEST_TAKE_HOOKS ?? "").split(",").filter(Boolean)) {
  completeCartWorkflow.hooks[name](async () => {
    if (name === process.env.TEST_FAILING_HOOK) throw new MedusaError(MedusaError.Types.NOT_ALLOWED, "Another plugin said no.");
  });
}
