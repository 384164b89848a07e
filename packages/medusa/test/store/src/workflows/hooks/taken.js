const { completeCartWorkflow } = require("@medusajs/medusa/core-flows");
const { MedusaError } = require("@medusajs/framework/utils");

const { TEST_TAKE_HOOKS = "", TEST_FAILING_HOOK, TEST_HANGING_HOOK } = process.env;

/** Whether the failing hook fails now: while the test keeps the table `fail_hook` in the shop's database. */
async function shallFail({ container }) {
  const { rows } = await container.resolve("__pg_connection__").raw("select to_regclass('fail_hook') as found");
  return rows[0].found !== null;
}

/** Registers handlers for the hooks that the test names, like another plugin. */
for (const name of TEST_TAKE_HOOKS.split(",").filter(Boolean)) {
  const invoke = async (_input, context) => {
    if (name === TEST_FAILING_HOOK && (await shallFail(context)))
      throw new MedusaError(MedusaError.Types.NOT_ALLOWED, "Another plugin said no.");
    if (name === TEST_HANGING_HOOK) await new Promise((resolve) => setTimeout(resolve, 60_000));
  };
  completeCartWorkflow.hooks[name](invoke);
}
