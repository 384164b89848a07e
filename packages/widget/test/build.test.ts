import { execFile } from "node:child_process";
import { readdir, readFile } from "node:fs/promises";
import path from "node:path";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";
import { widgetSizes } from "../scripts/sizes.mjs";
import { en } from "../src/messages/en.js";
import { builtInLanguages, loadMessages, textsFor } from "../src/messages/index.js";

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

  it("marks the React components as client components, so that a server component can import them", async () => {
    expect(await readFile(path.join(dist, "react.js"), "utf8")).toMatch(/^"use client";/);
  });

  it("contains the storefront's types, so that pages don't need the checkout package", async () => {
    const types = await readFile(path.join(dist, "giftcard-pay.d.ts"), "utf8");
    expect(types).toContain('"./storefront.js"');
    expect(types).not.toContain("@giftcard-pay/checkout");
  });

  it("keeps the standalone file self-contained", async () => {
    const code = await readFile(path.join(dist, "giftcard-pay.standalone.js"), "utf8");
    expect(code).toMatch(/giftcard-balance/);
    expect(code).not.toMatch(/(?:from|import) ?["'`](?!\.\/giftcard-pay\.)/);
  });

  it("keeps the recorded sizes, within the limits", async () => {
    const { parts, features, languages, ...sizes } = await widgetSizes();
    const recorded = JSON.parse(await readFile(path.join(here, "sizes.json"), "utf8"));
    const changed = Object.entries(sizes).filter(([name, bytes]) => Math.abs(bytes - recorded[name]) > 100);
    expect(changed, "a size has changed; npm run docs -- sizes records it").toEqual([]);
    expect(sizes.standalone).toBeLessThanOrEqual(17_500);
    expect(sizes.balance).toBeLessThanOrEqual(14_100);
  });

  it("documents every part that a template has, and no other", async () => {
    const source = path.join(here, "..", "src");
    const files = (await readdir(source)).filter((name) => name.endsWith(".ts"));
    const texts = await Promise.all(files.map((name) => readFile(path.join(source, name), "utf8")));
    const named = (pattern: RegExp) =>
      [...texts.join("\n").matchAll(pattern)].flatMap(([, names = ""]) => names.split(/[ ,]+|` and `|`, `/));
    const rendered = named(/\spart="([\w -]+)"/g);
    const own = named(/@csspart (\S+)/g);
    const ofButtons = named(/part name of their own[:,] `([^.]+)`\./g);
    expect([...new Set([...own, ...ofButtons])].toSorted()).toEqual([...new Set(rendered)].toSorted());
  });

  it("has every language of src/messages, and a file for the standalone one to load", async () => {
    const files = await readdir(path.join(here, "..", "src", "messages"));
    const languages = files.flatMap((file) => /^([a-z]{2})\.ts$/.exec(file)?.[1] ?? []);
    expect(builtInLanguages().sort()).toEqual(languages.sort());
    const built = (await readdir(dist)).flatMap((file) => /^giftcard-pay\.([a-z]{2})\.js$/.exec(file)?.[1] ?? []);
    expect(["en", ...built].sort()).toEqual(languages.sort());
  });

  it("has the same placeholders in every language", async () => {
    const placeholdersIn = (texts: object): object =>
      Object.fromEntries(
        Object.entries(texts).map(([name, text]) => [
          name,
          typeof text === "object" ? placeholdersIn(text) : [...String(text).matchAll(/\{\w+\}/g)].flat().sort(),
        ]),
      );
    for (const language of builtInLanguages()) {
      await loadMessages(language);
      const [locale, texts] = textsFor(language, {});
      expect(locale, "its texts are loaded").toBe(language);
      expect(placeholdersIn(texts), language).toEqual(placeholdersIn(en));
    }
  });
});
