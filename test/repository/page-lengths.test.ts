import { expect, it } from "vitest";
import { tooLongIn } from "../../scripts/check/page-lengths.mjs";

const words = (count: number) => Array.from({ length: count }, () => "word").join(" ");

it("reports a cell of more than 60 words, but not the target of a link or a code block", () => {
  const table = (cell: string) => `# Page\n\n| A | B |\n|---|---|\n| a | ${cell} |\n`;
  expect(tooLongIn("docs/page.md", table(words(60)))).toEqual([]);
  expect(tooLongIn("docs/page.md", table(`${words(59)} [a](b "c d")`))).toEqual([]);
  expect(tooLongIn("docs/page.md", table(words(61)))).toEqual([expect.stringContaining("a cell of 61 words")]);
  expect(tooLongIn("docs/page.md", table(`${words(40)} \\| ${words(40)}`))).toHaveLength(1);
  expect(tooLongIn("docs/page.md", `\`\`\`txt shown\n${table(words(61))}\`\`\`\n`)).toEqual([]);
});

it("limits the words of the Medusa plugin's README alone", () => {
  expect(tooLongIn("packages/medusa/README.md", words(2000))).toEqual([]);
  expect(tooLongIn("packages/medusa/README.md", words(2001))).toEqual([
    "packages/medusa/README.md: 2001 words, 2000 allowed",
  ]);
  expect(tooLongIn("packages/client/README.md", words(2001))).toEqual([]);
});
