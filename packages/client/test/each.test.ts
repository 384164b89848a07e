import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import type { Event } from "../src/index.js";
import { readJsonList } from "../src/json-list.js";
import { clientOf, failureOf, foreignService } from "./support/foreign-service.js";

const MANY = 12_000;
const wireEvent = (id: number) => ({
  id,
  company_id: 7,
  title: `Say "[{,}]" \\ ${id}`,
  description: "x".repeat(4000),
  end_date: null,
});

/** More than 32 MiB of events. */
function* longList() {
  for (let id = 1; id <= MANY; id++) yield `${id === 1 ? "[" : ",\n "}${JSON.stringify(wireEvent(id))}`;
  yield "]";
}

async function all(events: AsyncIterable<Event>): Promise<Event[]> {
  const read: Event[] = [];
  for await (const event of events) read.push(event);
  return read;
}

describe("eachEvent", () => {
  it("reads a list of any size, while listEvents has a limit", async () => {
    const service = await foreignService(() => (response) => {
      response.writeHead(200, { "content-type": "application/json" });
      const pieces = longList();
      const more = () => {
        for (;;) {
          const { done, value } = pieces.next();
          if (done) return void response.end();
          if (!response.write(value)) return void response.once("drain", more);
        }
      };
      more();
    });
    const client = clientOf(service, { timeoutMs: 60_000 });
    let count = 0;
    for await (const { id, title } of client.eachEvent()) {
      count += 1;
      expect([id, title]).toEqual([count, `Say "[{,}]" \\ ${count}`]);
    }
    expect(count).toBe(MANY);
    expect(await failureOf(client.listEvents())).toMatchObject({ code: "unreadable_answer" });
  });

  it.each(["[]", " [ ] \n"])("yields nothing for %j", async (text) => {
    const service = await foreignService(() => ({ text }));
    expect(await all(clientOf(service).eachEvent())).toEqual([]);
  });

  it("closes the connection if the caller stops in the middle", async () => {
    let isClosed = false;
    const service = await foreignService(() => (response) => {
      response.once("close", () => (isClosed = true));
      response.writeHead(200, { "content-type": "application/json" });
      response.write(`[${JSON.stringify(wireEvent(1))},${JSON.stringify(wireEvent(2))},`);
    });
    for await (const { id } of clientOf(service).eachEvent()) if (id === 1) break;
    await expect.poll(() => isClosed).toBe(true);
  });

  it("times out while it waits for the service, not while the caller works", async () => {
    const service = await foreignService(() => (response) => {
      response.writeHead(200, { "content-type": "application/json" });
      response.write(`[${JSON.stringify(wireEvent(1))},`);
    });
    const read: number[] = [];
    const reading = async () => {
      for await (const { id } of clientOf(service, { timeoutMs: 300 }).eachEvent()) {
        read.push(id);
        await sleep(600);
      }
    };
    expect(await failureOf(reading())).toMatchObject({ code: "timeout", retryable: true, status: 200 });
    expect(read).toEqual([1]);
  });

  it("continues after a caller worked on an item for longer than the timeout", async () => {
    let sendRest = () => {};
    const service = await foreignService(() => (response) => {
      response.writeHead(200, { "content-type": "application/json" });
      response.write(`[${JSON.stringify(wireEvent(1))},`);
      sendRest = () => response.end(`${JSON.stringify(wireEvent(2))}]`);
    });
    const read: number[] = [];
    for await (const { id } of clientOf(service, { timeoutMs: 1_000 }).eachEvent()) {
      read.push(id);
      if (id === 2) continue;
      await sleep(1_300);
      sendRest();
    }
    expect(read).toEqual([1, 2]);
  });

  it.each([
    ["ends in the middle", `[${JSON.stringify(wireEvent(1))},`, "unreadable_answer"],
    ["is not a list", '{"error":"no"}', "unreadable_answer"],
    ["contains an invalid item", `[${JSON.stringify(wireEvent(1))},{"id":"x"}]`, "unexpected_answer"],
    ["is followed by more text", `[${JSON.stringify(wireEvent(1))}][]`, "unreadable_answer"],
    ["has an empty item", `[${JSON.stringify(wireEvent(1))},]`, "unreadable_answer"],
  ])("fails if the list %s", async (_how, text, code) => {
    const service = await foreignService(() => ({ text }));
    expect(await failureOf(all(clientOf(service).eachEvent()))).toMatchObject({
      name: "ProtocolError",
      code,
    });
  });

  it("fails if the connection is lost in the middle, and does not retry", async () => {
    const service = await foreignService(() => (response) => {
      response.writeHead(200, { "content-type": "application/json" });
      response.write(`[${JSON.stringify(wireEvent(1))},`, () => response.destroy());
    });
    const error = await failureOf(all(clientOf(service).eachEvent()));
    expect(error).toMatchObject({
      name: "UnreachableError",
      code: "connection_lost",
      endpoint: "listEvents",
    });
    expect(service.received).toHaveLength(1);
  });

  it("retries if the response has not begun, and passes a refusal on", async () => {
    const service = await foreignService((_, count) =>
      count === 1 ? { status: 503, text: "" } : { status: 401, json: { error: "No." } },
    );
    const error = await failureOf(all(clientOf(service).eachEvent()));
    expect(error).toMatchObject({ name: "RefusedError", code: "unauthorized" });
    expect(service.received).toHaveLength(2);
  });
});

it("readJsonList reads the same items wherever the text is split", () => {
  const value = [1, 'a"],[\\', { b: [{}, []], "c}": '\\"' }, null, [], -1.5e3, true];
  const text = ` ${JSON.stringify(value, null, 1)} `;
  for (let size = 1; size <= text.length; size++) {
    const list = readJsonList();
    const items: unknown[] = [];
    for (let at = 0; at < text.length; at += size) items.push(...list.read(text.slice(at, at + size)));
    list.end();
    expect(items).toEqual(value);
  }
});
