import { readFile } from "node:fs/promises";
import path from "node:path";
import { gzipSync } from "node:zlib";
import { rolldown } from "rolldown";
import { describe, expect, it } from "vitest";

const root = path.resolve(import.meta.dirname, "../..");

/** Bundles a program, as for a Lambda (`node`) or for a page (`browser`). Returns the minified bundle. */
async function bundle(program: string, platform: "node" | "browser"): Promise<string> {
  const entry = path.join(root, "packages/medusa/entry.js");
  const bundle = await rolldown({
    input: entry,
    platform,
    external: /^node:/,
    plugins: [
      {
        name: "entry",
        resolveId: (id) => (id === entry ? id : null),
        load: (id) => (id === entry ? program : null),
      },
    ],
  });
  const { output } = await bundle.generate({ minify: true, codeSplitting: false });
  return output[0].code;
}

/** Reads the size that a package's README states, in kB. */
async function statedSize(name: string): Promise<{ kB: number; gzippedKB: number }> {
  const readme = await readFile(path.join(root, "packages", name, "README.md"), "utf8");
  const [, kB, gzippedKB] = /Bundled and minified:\s(\d+) kB, (\d+) kB gzipped/.exec(readme) ?? [];
  return { kB: Number(kB), gzippedKB: Number(gzippedKB) };
}

describe.each(["node", "browser"] as const)("a bundle for %s", (platform) => {
  it.each(["client", "checkout", "events"])("of everything in %s has the size stated in its README", async (name) => {
    const code = await bundle(`export * from "@giftcard-pay/${name}";`, platform);
    const [kB, gzippedKB] = [code.length / 1000, gzipSync(code).length / 1000];
    const stated = await statedSize(name);
    expect(Math.abs(kB / stated.kB - 1), `${kB} kB`).toBeLessThan(0.05);
    expect(Math.abs(gzippedKB / stated.gzippedKB - 1), `${gzippedKB} kB gzipped`).toBeLessThan(0.05);
  });

  it("contains only what it imports", async () => {
    const code = await bundle('export { cents } from "@giftcard-pay/client";', platform);
    expect(code.length).toBeLessThan(1000);
  });
});
