import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { runNode } from "../../../scripts/lib/process.mjs";

const cwd = fileURLToPath(new URL("..", import.meta.url));

/** The CommonJS builds, which only Jest and some bundlers load. Requiring them by path makes a second copy. */
const copies = {
  client: fileURLToPath(new URL("../../client/dist/index.cjs", import.meta.url)),
  checkout: fileURLToPath(new URL("../dist/src/index.cjs", import.meta.url)),
};

/**
 * Runs a program in its own process, because the test runner resolves modules differently. `copy.client` and `copy.checkout`
 * are the second copies. Returns the JSON that the program printed.
 */
async function run(program: string): Promise<unknown> {
  const head = `
    import { createRequire } from "node:module";
    const require = createRequire(import.meta.url + "/../x");
    const copy = { client: require(${JSON.stringify(copies.client)}), checkout: require(${JSON.stringify(copies.checkout)}) };
    const print = (value) => console.log(JSON.stringify(value));`;
  const args = ["--input-type=module", "--eval", `${head}\n${program}`];
  return JSON.parse(await runNode({ name: "The program", args, cwd }));
}

describe("import and require in one process", () => {
  const entries = {
    client: ["", "/contract"],
    checkout: ["", "/plugin", "/store", "/storefront", "/sqlite", "/conformance", "/node"],
    events: ["", "/csv", "/icalendar", "/push"],
  };
  it.each(Object.entries(entries))("load the same module from each entry of %s", async (name, paths) => {
    const ids = paths.map((path) => `@giftcard-pay/${name}${path}`);
    const same = await run(`
      const same = [];
      for (const id of ${JSON.stringify(ids)}) if ((await import(id)) === require(id)) same.push(id);
      print(same);`);
    expect(same).toEqual(ids);
  });
});

describe("instanceof with a second copy in the process", () => {
  it("recognizes the client's errors by their class", async () => {
    const results = await run(`
      const { createClient, ...client } = await import("@giftcard-pay/client");
      const names = ["GiftcardError", "RefusedError", "UnreachableError", "ProtocolError"];
      const responses = [
        () => Promise.reject(new Error("no network")),
        () => new Response('{"error":"Invalid card number or PIN"}', { status: 404 }),
        () => new Response("<html>"),
        () => new Response('{"error":"Invalid card number or PIN"}', { status: 404 }),
      ];
      const results = [];
      for (const [index, respond] of responses.entries()) {
        const options = { baseUrl: "http://127.0.0.1:1", apiKey: "key", companyId: 1, fetch: async () => respond(), maxRetries: 0 };
        const one = (index === 3 ? createClient : copy.client.createClient)(options);
        const error = await one.balance({ cardNumber: "6064990000001234567", pin: "004711" }).catch((error) => error);
        const classes = index === 3 ? copy.client : client;
        results.push(names.filter((name) => error instanceof classes[name]).join());
      }
      print([client.RefusedError === copy.client.RefusedError, ...results]);`);
    expect(results).toEqual([
      false,
      "GiftcardError,UnreachableError",
      "GiftcardError,RefusedError",
      "GiftcardError,ProtocolError",
      "GiftcardError,RefusedError",
    ]);
  });

  it("recognizes secrets, so the client and the sealer reveal them", async () => {
    const results = await run(`
      const { createClient, Secret } = await import("@giftcard-pay/client");
      const { createSealer } = await import("@giftcard-pay/checkout/plugin");
      let sent = "";
      const fetch = async (_, { body }) => {
        sent = String(body);
        throw new Error("no network");
      };
      const secret = (text) => new copy.client.Secret(text);
      const client = createClient({ baseUrl: "http://127.0.0.1:1", apiKey: secret("a-key"), companyId: 1, fetch, maxRetries: 0 });
      await client.balance({ cardNumber: secret("6064990000001234567"), pin: secret("004711") }).catch(() => {});
      const sealer = createSealer({ keys: [{ id: "a", key: Buffer.alloc(32).toString("base64") }] });
      const opened = await sealer.openToken(await sealer.sealToken(secret("token"), "one"), "one");
      print([
        ["a-key", "6064990000001234567", "004711"].every((text) => sent.includes(text)),
        opened.reveal(),
        opened instanceof copy.client.Secret,
        {} instanceof Secret || null instanceof Secret,
      ]);`);
    expect(results).toEqual([true, "token", true, false]);
  });

  it("recognizes the checkout's errors by their class", async () => {
    const results = await run(`
      const { CheckoutError, RefundError } = await import("@giftcard-pay/checkout");
      const errors = [new copy.checkout.CheckoutError("internal"), new copy.checkout.RefundError("order_not_paid", ""), new Error("x"), null];
      print([CheckoutError === copy.checkout.CheckoutError,
        ...errors.map((error) => [error instanceof CheckoutError, error instanceof RefundError])]);`);
    expect(results).toEqual([false, [true, false], [false, true], [false, false], [false, false]]);
  });

  it("doesn't recognize an error as one of an application's subclass", async () => {
    const results = await run(`
      const { CheckoutError } = await import("@giftcard-pay/checkout");
      class Own extends CheckoutError {}
      const [own, other] = [new Own("internal"), new CheckoutError("internal")];
      print([own instanceof Own, own instanceof CheckoutError, other instanceof Own]);`);
    expect(results).toEqual([true, true, false]);
  });
});
