import type { PlayedStripe } from "../../../../test/support/played-stripe.js";
import type { Stage } from "./stage.js";

const VISA = "4242424242424242";

/** Creates the payment method of Vendure's StripePlugin. */
export async function addStripe(stage: Stage, { apiKey, webhookSecret }: PlayedStripe): Promise<void> {
  await stage
    .admin()
    .call("mutation ($input: CreatePaymentMethodInput!) { createPaymentMethod(input: $input) { id } }", {
      input: {
        ...{ code: "stripe", enabled: true, translations: [{ languageCode: "en", name: "Stripe", description: "" }] },
        handler: {
          code: "stripe",
          arguments: Object.entries({ apiKey, webhookSecret }).map(([name, value]) => ({ name, value })),
        },
      },
    });
}

/** Pays an intent as the page does, and sends Stripe's webhook to Vendure. */
export async function payByStripe(stage: Stage, stripe: PlayedStripe, clientSecret: string): Promise<void> {
  await stripe.confirm(clientSecret, VISA);
  const intent = stripe.intents.all().find(({ client_secret }) => client_secret === clientSecret);
  for (const event of stripe.events)
    if (event.type === "payment_intent.succeeded" && event.data.object.id === intent?.id)
      await stripe.deliver(event, `${stage.shop().url}/payments/stripe`);
}
