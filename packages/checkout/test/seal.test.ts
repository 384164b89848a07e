import { inspect } from "node:util";
import { Secret } from "@giftcard-pay/client";
import { describe, expect, it } from "vitest";
import { createSealer } from "../src/sealing/seal.js";

const oldKey = { id: "2025", key: Buffer.alloc(32, 1).toString("base64") };
const newKey = { id: "2026", key: Buffer.alloc(32, 2).toString("base64url") };
const card = { cardNumber: new Secret("6064361234567890123"), pin: new Secret("012345") };

describe("the seals", () => {
  const sealer = createSealer({ keys: [newKey, oldKey] });

  it("decrypt only for the purpose of the seal, with leading zeros intact", async () => {
    const opened = await sealer.openTenderCard(await sealer.sealTenderCard(card, "cart_1", 60_000), "cart_1");
    expect(opened.cardNumber.reveal()).toBe("6064361234567890123");
    expect(opened.pin.reveal()).toBe("012345");
    const token = await sealer.openToken(await sealer.sealToken(new Secret("abc123"), "gc_1"), "gc_1");
    expect(token.reveal()).toBe("abc123");
  });

  it("contain nothing in plain text", async () => {
    const sealed = await sealer.sealTenderCard(card, "cart_1", 60_000);
    const readable = sealed.split(".").map((part) => Buffer.from(part, "base64url").toString("latin1"));
    for (const text of [sealed, ...readable, inspect(sealer, { depth: 9, showHidden: true })]) {
      expect(text).not.toContain("6064361234567890123");
      expect(text).not.toContain("012345");
      expect(text).not.toContain(newKey.key);
    }
  });

  it("don't open for another cart or purpose, or if a bit was changed", async () => {
    const sealed = await sealer.sealTenderCard(card, "cart_1", 60_000);
    await expect(sealer.openTenderCard(sealed, "cart_2")).rejects.toMatchObject({ fault: "broken" });
    await expect(sealer.openChargeCard(sealed, "cart_1")).rejects.toMatchObject({ fault: "broken" });
    await expect(sealer.openToken(sealed, "cart_1")).rejects.toMatchObject({ fault: "broken" });
    const parts = sealed.split(".");
    const text = Buffer.from(parts[3] ?? "", "base64url");
    text.writeUInt8(text.readUInt8(0) ^ 1, 0);
    parts[3] = text.toString("base64url");
    await expect(sealer.openTenderCard(parts.join("."), "cart_1")).rejects.toMatchObject({ fault: "broken" });
    await expect(sealer.openTenderCard("nonsense", "cart_1")).rejects.toMatchObject({ fault: "broken" });
  });

  it("don't open after they expire; tokens never expire", async () => {
    const sealed = await sealer.sealTenderCard(card, "cart_1", -1000);
    await expect(sealer.openTenderCard(sealed, "cart_1")).rejects.toMatchObject({ fault: "expired" });
  });

  it("open with an old key that is still configured, and name the fault otherwise", async () => {
    const before = await createSealer({ keys: [oldKey] }).sealToken(new Secret("abc123"), "gc_1");
    expect((await sealer.openToken(before, "gc_1")).reveal()).toBe("abc123");
    const after = await sealer.sealToken(new Secret("abc123"), "gc_1");
    await expect(createSealer({ keys: [oldKey] }).openToken(after, "gc_1")).rejects.toMatchObject({
      fault: "unknown_key",
    });
  });

  it("refuse keys that are missing, short, or have the same id, without showing them", () => {
    expect(() => createSealer({ keys: [] })).toThrow(/At least one sealing key/);
    expect(() => createSealer({ keys: [newKey, newKey] })).toThrow(/same id/);
    const short = { id: "short", key: Buffer.alloc(16, 3).toString("base64") };
    expect(() => createSealer({ keys: [short] })).toThrow(/openssl rand -base64 32/);
    expect(() => createSealer({ keys: [short] })).not.toThrow(short.key);
  });
});
