import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { runNode } from "../../../scripts/process.mjs";

const cwd = fileURLToPath(new URL("..", import.meta.url));

/** The module of the errors alone, of which two addresses make two copies. */
const copy = new URL("../dist/src/engine/errors.js", import.meta.url).href;

/** In a process of its own: the test runner has modules in its own way. @returns what the program printed, as JSON says it */
async function run(program: string): Promise<unknown> {
  const head = `import { createRequire } from "node:module"; const require = createRequire(import.meta.url + "/../x");`;
  const args = ["--input-type=module", "--eval", `${head}\n${program}`];
  return JSON.parse(await runNode({ name: "The program", args, cwd }));
}

describe("what is imported and what is required, in one process", () => {
  const entries = {
    client: ["", "/contract"],
    checkout: ["", "/plugin", "/store", "/storefront", "/sqlite", "/conformance", "/node"],
  };
  for (const [name, paths] of Object.entries(entries)) {
    it(`is the same, by every entry of ${name}`, async () => {
      const ids = paths.map((path) => `@giftcard-pay/${name}${path}`);
      const said = await run(`const found = [];
        for (const id of ${JSON.stringify(ids)}) {
          const [imported, required] = [await import(id), require(id)];
          const names = [...new Set([...Object.keys(imported), ...Object.keys(required)])];
          found.push([id, names.length, names.filter((name) => imported[name] !== required[name])]);
        }
        console.log(JSON.stringify(found));`);
      const counts = (said as [string, number, string[]][]).map(([, count]) => count);
      expect(said).toEqual(ids.map((id, index) => [id, counts[index], []]));
      // Types need nothing that runs.
      expect(ids.filter((_, index) => counts[index] === 0)).toEqual(
        name === "checkout" ? ["@giftcard-pay/checkout/storefront"] : [],
      );
    });
  }

  it("knows the checkout's errors of another copy, as bundlers make them", async () => {
    const said = await run(`
      const [one, another] = await Promise.all(["one", "another"].map((name) => import("${copy}?" + name)));
      const errors = [new one.CheckoutError("internal"), new one.RefundError("order_not_paid", ""), new Error("x"), null];
      console.log(JSON.stringify([one.CheckoutError === another.CheckoutError,
        ...errors.map((error) => [error instanceof another.CheckoutError, error instanceof another.RefundError])]));`);
    expect(said).toEqual([false, [true, false], [false, true], [false, false], [false, false]]);
  });

  it("takes no error for one of a class that somebody made of the checkout's", async () => {
    const said = await run(`
      const { CheckoutError } = await import("@giftcard-pay/checkout");
      class Own extends CheckoutError {}
      const [own, other] = [new Own("internal"), new CheckoutError("internal")];
      console.log(JSON.stringify([own instanceof Own, own instanceof CheckoutError, other instanceof Own]));`);
    expect(said).toEqual([true, true, false]);
  });

  it("knows the other's errors and secrets, through the subpaths too", async () => {
    const said = await run(`
      const { createClient, GiftcardError, Secret } = await import("@giftcard-pay/client");
      const client = require("@giftcard-pay/client");
      const { Secret: SecretOfContract } = require("@giftcard-pay/client/contract");
      const { createSealer } = require("@giftcard-pay/checkout/plugin");
      const { SealError } = await import("@giftcard-pay/checkout/plugin");
      const sealer = createSealer({ keys: [{ id: "a", key: Buffer.alloc(32).toString("base64") }] });
      const fetch = async () => { throw new Error("no network"); };
      const options = { baseUrl: "http://127.0.0.1:1", apiKey: "key", companyId: 1, fetch, timeoutMs: 100 };
      const card = { cardNumber: "6064990000001234567", pin: "004711" };
      const failures = await Promise.all([createClient(options), client.createClient(options)].map(
        (one) => one.balance(card).catch((error) => error)));
      const sealed = await sealer.sealToken(new SecretOfContract("token"), "one");
      console.log(JSON.stringify([
        failures.map((error) => error instanceof GiftcardError && error instanceof client.UnreachableError),
        (await sealer.openToken(sealed, "one")) instanceof Secret,
        (await sealer.openToken(sealed, "two").catch((error) => error)) instanceof SealError,
      ]));`);
    expect(said).toEqual([[true, true], true, true]);
  });
});
