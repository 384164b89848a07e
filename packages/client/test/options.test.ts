import { describe, expect, it } from "vitest";
import { type ClientOptions, createClient } from "../src/index.js";

const both = { live: "https://cards.example/", sandbox: "https://sandbox.cards.example" };

describe("createClient", () => {
  it("chooses between both addresses", () => {
    expect(createClient({ environment: "sandbox", baseUrls: both })).toMatchObject({
      environment: "sandbox",
      baseUrl: "https://sandbox.cards.example",
      companyId: undefined,
    });
    expect(createClient({ environment: "live", baseUrls: both, companyId: 3 })).toMatchObject({
      environment: "live",
      baseUrl: "https://cards.example",
      companyId: 3,
    });
  });

  it("takes one address, with a folder and closing slashes", () => {
    expect(createClient({ baseUrl: "http://localhost:8080/cards//" }).baseUrl).toBe(
      "http://localhost:8080/cards",
    );
  });

  it("cannot be changed afterwards", () => {
    const client = createClient({ baseUrl: "http://localhost" }) as { baseUrl: string };
    expect(() => {
      client.baseUrl = "http://elsewhere.example";
    }).toThrow(TypeError);
  });

  const baseUrl = "https://cards.example";
  it.each<[string, unknown, RegExp]>([
    ["nothing", undefined, /object of options/],
    ["no address", {}, /baseUrl must be an http or https address/],
    ["a path for an address", { baseUrl: "cards.example" }, /baseUrl must be/],
    ["another protocol", { baseUrl: "ftp://cards.example" }, /baseUrl must be/],
    ["a password in the address", { baseUrl: "https://me:sesame@cards.example" }, /no user name or password/],
    ["a query in the address", { baseUrl: "https://cards.example/?a=b" }, /no query/],
    ["the whole path", { baseUrl: "https://cards.example/api/endpoint/v1/" }, /end before/],
    ["both kinds of address", { baseUrl, baseUrls: both, environment: "live" }, /not both/],
    ["both addresses and no choice", { baseUrls: both }, /environment/],
    ["one address missing", { baseUrls: { live: both.live }, environment: "live" }, /baseUrls\.sandbox/],
    [
      "twice the same address",
      { baseUrls: { live: baseUrl, sandbox: `${baseUrl}/` }, environment: "live" },
      /different/,
    ],
    ["an unknown environment", { baseUrl, environment: "test" }, /"live" or "sandbox"/],
    ["a company that is text", { baseUrl, companyId: "7" }, /companyId/],
    ["a company of 0", { baseUrl, companyId: 0 }, /companyId/],
    ["an empty key", { baseUrl, apiKey: "" }, /apiKey/],
    ["a key that is a number", { baseUrl, apiKey: 5 }, /apiKey/],
    [
      "credentials without a password",
      { baseUrl, credentials: { email: "a@b.example" } },
      /credentials\.password/,
    ],
    [
      "an email with a colon",
      { baseUrl, credentials: { email: "a:b", password: "sesame" } },
      /without a colon/,
    ],
    ["a time-out of 0", { baseUrl, timeoutMs: 0 }, /timeoutMs/],
    ["a time-out that no timer keeps", { baseUrl, timeoutMs: 1e12 }, /timeoutMs/],
    ["a fetch that is none", { baseUrl, fetch: "fetch" }, /fetch/],
    ["a listener that is none", { baseUrl, onRequest: {} }, /onRequest/],
  ])("refuses %s", (_, options, message) => {
    const make = () => createClient(options as ClientOptions);
    expect(make).toThrow(TypeError);
    expect(make).toThrow(message);
    expect(make).not.toThrow(/sesame/);
  });
});
