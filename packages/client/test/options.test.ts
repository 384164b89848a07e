import { afterEach, describe, expect, it, vi } from "vitest";
import { type ClientOptions, createClient } from "../src/index.js";

describe("createClient", () => {
  it("accepts an address with a path and trailing slashes", () => {
    expect(createClient({ baseUrl: "http://localhost:8080/cards//" }).baseUrl).toBe("http://localhost:8080/cards");
  });

  it.each(["http://localhost:1", "http://cards.localhost", "http://127.8.0.1", "http://[::1]:8080"])(
    "accepts http to this machine: %s",
    (baseUrl) => {
      expect(createClient({ baseUrl }).baseUrl).toBe(baseUrl);
    },
  );

  it("accepts http to another machine if allowHttp is set", () => {
    const baseUrl = "http://cards.internal:8080";
    expect(createClient({ baseUrl, allowHttp: true }).baseUrl).toBe(baseUrl);
  });

  it("returns a frozen client", () => {
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
    ["a password in the address", { baseUrl: "https://me:sesame@cards.example" }, /user name or password/],
    ["a query in the address", { baseUrl: "https://cards.example/?a=b" }, /no query/],
    ["the whole path", { baseUrl: "https://cards.example/api/endpoint/v1/" }, /end before/],
    ["an unknown environment", { baseUrl, environment: "test" }, /"live" or "sandbox"/],
    ["a company that is text", { baseUrl, companyId: "7" }, /companyId/],
    ["a company of 0", { baseUrl, companyId: 0 }, /companyId/],
    ["an empty key", { baseUrl, apiKey: "" }, /apiKey/],
    ["a key that is a number", { baseUrl, apiKey: 5 }, /apiKey/],
    ["a timeout of 0", { baseUrl, timeoutMs: 0 }, /timeoutMs/],
    ["a timeout that is too long for a timer", { baseUrl, timeoutMs: 1e12 }, /timeoutMs/],
    ["a fetch that is not a function", { baseUrl, fetch: "fetch" }, /fetch/],
    ["endless retries", { baseUrl, maxRetries: Infinity }, /maxRetries/],
    ["half a retry", { baseUrl, maxRetries: 0.5 }, /maxRetries/],
    ["http to another machine", { baseUrl: "http://cards.example" }, /baseUrl must be https.*allowHttp/],
    ["http to a name that begins like this machine's", { baseUrl: "http://127.0.0.1.example" }, /must be https/],
    ["an onRequest that is not a function", { baseUrl, onRequest: {} }, /onRequest/],
  ])("refuses %s", (_, options, message) => {
    const make = () => createClient(options as ClientOptions);
    expect(make).toThrow(TypeError);
    expect(make).toThrow(message);
    expect(make).not.toThrow(/sesame/);
  });
});

describe("in a browser, createClient", () => {
  afterEach(() => void vi.unstubAllGlobals());

  it("throws", () => {
    vi.stubGlobal("window", globalThis);
    vi.stubGlobal("document", {});
    expect(() => createClient({ baseUrl: "https://cards.example", apiKey: "sesame" })).toThrow(/for servers/);
  });
});
