import { createRegionsWorkflow } from "@medusajs/medusa/core-flows";
import { medusaIntegrationTestRunner } from "@medusajs/test-utils";

jest.setTimeout(240_000);

medusaIntegrationTestRunner({
  inApp: true,
  testSuite: ({ api, getContainer }) => {
    it("applies a gift card to a cart", async () => {
      const container = getContainer();
      const regions = [{ name: "NL", currency_code: "eur", payment_providers: ["pp_giftcard_giftcard"] }];
      const { result } = await createRegionsWorkflow(container).run({ input: { regions } });
      const page = { title: "page", type: "publishable", created_by: "jest" };
      const { token } = await container.resolve("api_key").createApiKeys(page);
      const cart = await container.resolve("cart").createCarts({
        region_id: result[0].id,
        currency_code: "eur",
        items: [{ title: "A ticket", quantity: 1, unit_price: 74.98 }],
      });
      const { data } = await api.post(
        `/store/giftcard-pay/carts/${cart.id}/cards`,
        JSON.parse(process.env.CARD ?? "{}"),
        { headers: { "x-publishable-api-key": token }, validateStatus: () => true },
      );
      expect(data).toMatchObject({ totalCents: 7498, coveredCents: 5000, remainderCents: 2498 });
    });
  },
});
