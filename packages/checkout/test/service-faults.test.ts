import { createServer } from "node:net";
import { createClient } from "@giftcard-pay/client";
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import { freePort } from "../../../scripts/lib/process.mjs";
import { newCart, type Shop, startShop } from "./shop.js";

const refusal = (code: string) => expect.objectContaining({ name: "CheckoutError", code });

let shop: Shop;
beforeAll(async () => {
  shop = await startShop();
});
afterAll(() => shop?.stop());
afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

const wrongKey = "a-key-that-nobody-issued";

/** Enters a valid card. */
async function enter(engine: ReturnType<Shop["engine"]>): Promise<void> {
  const { cardNumber, pin } = await shop.card(1000);
  await expect(engine.quote(newCart(100), { cardNumber, pin })).rejects.toEqual(refusal("service_unavailable"));
}

describe("a fault that only the shop can fix", () => {
  const failures: { code?: string }[] = [];
  const onFailure = (failure: unknown) => failures.push(failure as { code?: string });
  const codes = () => failures.splice(0).map(({ code }) => code);
  const clientOf = (baseUrl: string, apiKey: string) =>
    createClient({ baseUrl, apiKey, companyId: shop.client.companyId as number, timeoutMs: 1_500 });

  it("is reported once a minute, without secrets, if the API key is refused", async () => {
    const engine = shop.engine({ issuer: clientOf(shop.service.url, wrongKey), onFailure });
    vi.useFakeTimers({ toFake: ["performance"] });
    for (let time = 0; time < 3; time++) await enter(engine);
    expect(JSON.stringify(failures)).not.toContain(wrongKey);
    expect(codes()).toEqual(["unauthorized"]);
    vi.advanceTimersByTime(60_000);
    await enter(engine);
    expect(codes()).toEqual(["unauthorized"]);
  });

  it("is reported if the API key is another company's", async () => {
    const { apiKey } = await shop.service.createCompany();
    await enter(shop.engine({ issuer: clientOf(shop.service.url, apiKey), onFailure }));
    expect(codes()).toEqual(["unauthorized"]);
  });

  it("is reported if nothing listens at the address, or another server does", async () => {
    await enter(shop.engine({ issuer: clientOf(`http://127.0.0.1:${await freePort()}`, "key"), onFailure }));
    expect(codes()).toEqual(["not_connected"]);
    const mute = createServer((socket) => socket.destroy()).listen(0, "127.0.0.1");
    await new Promise((listens) => mute.once("listening", listens));
    const { port } = mute.address() as { port: number };
    await enter(shop.engine({ issuer: clientOf(`http://127.0.0.1:${port}`, "key"), onFailure }));
    expect(codes()).toEqual(["connection_lost"]);
    mute.close();
  });

  it("is logged with its message if the shop has no function for failures", async () => {
    const lines: unknown[][] = [];
    vi.spyOn(console, "error").mockImplementation((...line) => void lines.push(line));
    await enter(shop.engine({ issuer: clientOf(shop.service.url, wrongKey) }));
    await vi.waitFor(() => expect(lines.length).toBe(1));
    expect(lines[0]).toEqual([expect.stringMatching(/^giftcard-pay: RefusedError unauthorized .*Authentication/)]);
    expect(JSON.stringify(lines)).not.toContain(wrongKey);
  });

  it("is not a refused card", async () => {
    const { cardNumber } = await shop.card(1000);
    const engine = shop.engine({ onFailure });
    await expect(engine.quote(newCart(100), { cardNumber, pin: "000000" })).rejects.toEqual(refusal("invalid_card"));
    expect(codes()).toEqual([]);
  });
});
