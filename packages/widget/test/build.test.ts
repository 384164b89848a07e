import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import path from "node:path";
import { promisify } from "node:util";
import { brotliCompressSync, gzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";

const here = import.meta.dirname;
const dist = path.join(here, "..", "dist");
const run = promisify(execFile);

describe("the build", () => {
  it.each(["index.js", "define.js"])("lets Node import %s, even twice", async (file) => {
    const program = `
      await import(${JSON.stringify(path.join(dist, file))});
      const { GiftcardPay } = await import(${JSON.stringify(`${path.join(dist, file)}?again`)});
      console.log(GiftcardPay.name);`;
    const { stdout } = await run(process.execPath, ["--input-type=module", "--eval", program]);
    expect(stdout.trim()).toBe("GiftcardPay");
  });

  it("contains the storefront's types, so that pages don't need the checkout package", async () => {
    const types = await readFile(path.join(dist, "giftcard-pay.d.ts"), "utf8");
    expect(types).toContain('"./storefront.js"');
    expect(types).not.toContain("@giftcard-pay/checkout");
  });

  it("keeps the standalone file self-contained and at the recorded size", async () => {
    const code = await readFile(path.join(dist, "giftcard-pay.standalone.js"));
    const sizes = {
      minified: code.length,
      gzip: gzipSync(code, { level: 9 }).length,
      brotli: brotliCompressSync(code).length,
    };
    expect(sizes).toEqual(JSON.parse(await readFile(path.join(here, "sizes.json"), "utf8")));
    expect(sizes.brotli).toBeLessThanOrEqual(13_950);
    expect(sizes.gzip).toBeLessThanOrEqual(15_400);
    expect(code.toString()).toMatch(/giftcard-balance/);
    expect(code.toString()).not.toMatch(/(?:from|import) ?["'`](?!\.\/giftcard-pay\.)/);
  });
});
