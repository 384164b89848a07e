import { execFile } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import path from "node:path";
import { expect, it } from "vitest";

const root = path.resolve(import.meta.dirname, "../..");
const biome = createRequire(path.join(root, "scripts/package.json")).resolve("@biomejs/biome/bin/biome");
const tested = ["packages/widget/test", "packages/widget/gallery", "test/e2e", "scripts/site"];

const sample = `export const run = () => [
  button.click(),
  find("#apply")?.click(),
  page.getByRole("link").click({ timeout: 9 }),
  link.dblclick(),
  press(button),
];
`;

it("rejects a click that no person can make in tests, and accepts it in a page's own code", {
  tags: "long",
}, async () => {
  const folders = await Promise.all(
    [...tested, "packages/medusa/src/admin"].map((within) => mkdtemp(path.join(root, within, "tried-"))),
  );
  try {
    const files = folders.map((folder) => path.join(folder, "sample.ts"));
    await Promise.all(files.map((file) => writeFile(file, sample)));
    const output = await new Promise<string>((resolve) => {
      const args = [biome, "lint", "--colors=off", "--max-diagnostics=none", ...files];
      execFile(process.execPath, args, { cwd: root }, (_, out, errors) => resolve(out + errors));
    });
    const found = [...output.matchAll(/^(\S+)\/tried-\w+\/sample\.ts:(\d+):\d+ plugin/gm)].map(
      ([, within, line]) => `${within}:${line}`,
    );
    expect(found.sort()).toEqual(tested.flatMap((within) => [2, 3, 4, 5].map((line) => `${within}:${line}`)).sort());
  } finally {
    for (const folder of folders) await rm(folder, { recursive: true });
  }
});
