import { mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import os from "node:os";
import path from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { checkBlocks } from "../../scripts/check/blocks.mjs";
import { deadLinks } from "../../scripts/check/markdown.mjs";

const installed = path.resolve(import.meta.dirname, "../../node_modules");
const tsc = createRequire(import.meta.url).resolve("typescript/bin/tsc");
const fence = "```";
let root: string;

const write = async (file: string, text: string) => {
  await mkdir(path.dirname(path.join(root, file)), { recursive: true });
  await writeFile(path.join(root, file), text);
};

// Creates a repository with pages and the installed packages of this one.
beforeAll(async () => {
  root = await mkdtemp(path.join(os.tmpdir(), "giftcard-pages-"));
  await mkdir(path.join(root, "node_modules"));
  for (const name of ["@giftcard-pay", "@medusajs", "@types"])
    await symlink(path.join(installed, name), path.join(root, "node_modules", name), "junction");
  await write("packages/a/test/a.test.ts", 'readBlock("docs/run.md", "a.mjs");\n');
});

afterAll(() => rm(root, { recursive: true, force: true }));

it("finds links to missing files and headings, and no others", async () => {
  await write("docs/a.md", '# A `card`\'s *end*: twice\n\n## Twice\n\n## Twice\n\n<a id="named"></a>\n');
  const good = [
    "a.md",
    "a.md#a-cards-end-twice",
    "a.md#twice-1",
    "a.md#named",
    "../docs",
    "https://x.example/#y",
    "#b",
  ];
  const bad = ["b.md", "a.md#thrice", "../docs/none.png", "#c"];
  const code = `\`[x](code.md)\`\n\n${fence}md shown\n[x](block.md)\n${fence}\n`;
  await write("docs/links.md", `# B\n\n${[...good, ...bad].map((link) => `[x](${link})`).join(" ")}\n${code}`);
  expect(await deadLinks(root)).toEqual(bad.map((link) => `docs/links.md: ${link}`));
});

it("finds code blocks without a mark, without a test, or that don't compile, and no others", {
  tags: "long",
}, async () => {
  const block = (info: string, text: string) => `${fence}${info}\n${text}\n${fence}\n`;
  await write("docs/run.md", block("js file=a.mjs", "run();") + block("", "a --> b") + block("sh shown", "ls"));
  await write("docs/said.md", block("sh", "ls") + block("js file=b.mjs", "run();"));
  const use = 'import { cents } from "@giftcard-pay/client";\nconst price: number = cents(1);\nconsole.log(price);';
  await write("docs/typed.md", block("ts typed", use) + block("ts typed", use.replace("number", "boolean")));
  const found = await checkBlocks(root, tsc).catch((error: Error) => error.message.split("\n"));
  expect(found).toEqual([
    expect.stringMatching(/^docs\/said\.md:1: say behind "sh"/),
    expect.stringMatching(/^docs\/said\.md:4: no test names this page/),
    expect.stringMatching(/^docs\/typed\.md:8: error TS2322/),
  ]);
});
