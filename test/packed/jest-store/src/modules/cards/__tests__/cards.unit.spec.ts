import { createServer } from "node:http";
import { purchaseConformance } from "@giftcard-pay/checkout/conformance";
import { toNodeListener } from "@giftcard-pay/checkout/node";
import { createSealer, SealError } from "@giftcard-pay/checkout/plugin";
import { createSqliteStore } from "@giftcard-pay/checkout/sqlite";
import { cents, createClient, GiftcardError, Secret, UnreachableError } from "@giftcard-pay/client";
import { Secret as SecretOfContract } from "@giftcard-pay/client/contract";
import { PROVIDER_ID, withGiftcard } from "@giftcard-pay/medusa";
import { withGiftcard as withGiftcardOfConfig } from "@giftcard-pay/medusa/config";
import giftcardModule from "@giftcard-pay/medusa/modules/giftcard";
import provider from "@giftcard-pay/medusa/providers/giftcard";
import { Modules } from "@medusajs/framework/utils";

const keys = [{ id: "jest", key: Buffer.alloc(32).toString("base64") }];
const card = { cardNumber: "6064990000001234567", pin: "004711" };

it("loads every entry of the plugin and of its dependencies", () => {
  expect(withGiftcard).toBe(withGiftcardOfConfig);
  const config = withGiftcard(
    { plugins: [], modules: {} },
    { environment: "sandbox", baseUrl: "http://127.0.0.1:1", apiKey: "key", companyId: 1, sealingKeys: keys },
  );
  expect(config.modules?.[Modules.PAYMENT]).toMatchObject({ dependencies: ["giftcard"] });
  expect(PROVIDER_ID).toBe("pp_giftcard_giftcard");
  expect(giftcardModule.service.name).toBe("GiftcardService");
  expect(provider.services.map(({ name }) => name)).toEqual(["GiftcardProvider"]);
  for (const one of [toNodeListener, createSqliteStore, purchaseConformance]) expect(typeof one).toBe("function");
});

it("seals a card, and opens it as the client's own secrets", async () => {
  const sealer = createSealer({ keys });
  const secret = { cardNumber: new SecretOfContract(card.cardNumber), pin: new SecretOfContract(card.pin) };
  const sealed = await sealer.sealTenderCard(secret, "cart_1", 60_000);
  const { cardNumber, pin } = await sealer.openTenderCard(sealed, "cart_1");
  expect(cardNumber).toBeInstanceOf(Secret);
  expect([cardNumber.reveal(), pin.reveal()]).toEqual([card.cardNumber, card.pin]);
  await expect(sealer.openTenderCard(sealed, "cart_2")).rejects.toBeInstanceOf(SealError);
});

it("reports that a deduction was not sent if the connection is refused", async () => {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as { port: number };
  await new Promise((resolve) => server.close(resolve));
  const client = createClient({ baseUrl: `http://127.0.0.1:${port}`, apiKey: "key", companyId: 1 });
  const devalue = client.devalue({ ...card, amountCents: cents(100), reference: crypto.randomUUID() });
  const error = await devalue.catch((failure: unknown) => failure);
  expect(error).toBeInstanceOf(UnreachableError);
  expect(error).toBeInstanceOf(GiftcardError);
  expect(error).toMatchObject({ code: "not_connected" });
});
