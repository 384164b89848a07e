const { completeCartWorkflow } = require("@medusajs/medusa/core-flows");
const { MedusaError } = require("@medusajs/framework/utils");
const { completeWithGiftcards, undoCompletion } = require("@giftcard-pay/medusa/workflows");

const { TEST_TAKE_HOOKS = "", TEST_FAILING_HOOK, TEST_HANGING_HOOK, TEST_CALLING_HOOK } = process.env;

/** Takes the hooks that the test names, as another plugin of the shop would. */
for (const name of TEST_TAKE_HOOKS.split(",").filter(Boolean)) {
  const invoke = async (input, context) => {
    if (name === TEST_FAILING_HOOK)
      throw new MedusaError(MedusaError.Types.NOT_ALLOWED, "Another plugin said no.");
    if (name === TEST_HANGING_HOOK) await new Promise((resolve) => setTimeout(resolve, 60_000));
    if (name === TEST_CALLING_HOOK) return completeWithGiftcards(input, context);
  };
  completeCartWorkflow.hooks[name](invoke, name === TEST_CALLING_HOOK ? undoCompletion : undefined);
}
