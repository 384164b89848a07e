import { expect, it } from "vitest";
import { root } from "../../scripts/lib/command.mjs";
import { runNode } from "../../scripts/lib/process.mjs";
import { startPlayedStripe } from "../support/played-stripe.js";

it("the script for a provider's test mode pays, refunds and cancels at the simulated Stripe", async () => {
  const stripe = await startPlayedStripe();
  try {
    const env = { STRIPE_SECRET_KEY: stripe.apiKey, STRIPE_API_URL: stripe.url };
    const printed = await runNode({ name: "npm run sandbox", args: ["scripts/sandbox.mjs"], cwd: root, env });
    expect(printed.trimEnd().split("\n").at(-1)).toContain("all amounts are exact");
    const live = {
      name: "npm run sandbox",
      args: ["scripts/sandbox.mjs"],
      cwd: root,
      env: { STRIPE_SECRET_KEY: "sk_live_1" },
    };
    await expect(runNode(live)).rejects.toThrow(/Live keys are refused/);
  } finally {
    await stripe.stop();
  }
});
