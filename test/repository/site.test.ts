import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { runNode } from "../../scripts/lib/process.mjs";
import { findDeadLinks } from "../../scripts/site/dead-links.mjs";
import { keepBraces } from "../../site/braces.mjs";
import { resolveLink } from "../../site/links.mjs";
import { files, groups, pageOf, present, root } from "../../site/pages.mjs";
import { weightOf } from "../../site/search.mjs";

describe("the repository's Markdown", () => {
  it("links only to existing files", async () => {
    const faults: string[] = [];
    let links = 0;
    for (const file of present) {
      const text = (await readFile(path.join(root, file), "utf8")).replace(/^```.*?^```$/gms, "");
      for (const [, href = ""] of text.matchAll(/\]\(([^)\s]+)\)/g)) {
        links++;
        try {
          resolveLink(href, file);
        } catch (error) {
          faults.push(String(error));
        }
      }
    }
    expect(faults).toEqual([]);
    expect(links).toBeGreaterThan(200);
  });

  it("builds as a site without broken links", async () => {
    const said = await runNode({ name: "The site", args: ["scripts/site.mjs", "--draft"], cwd: root });
    expect(said).toMatch(/no broken links/);
  });

  it("may have braces and angle brackets, which Vue would read as expressions and elements", () => {
    const rules: Record<string, (tokens: { content: string }[], index: number) => string> = {};
    const escapeHtml = (text: string) => text.replaceAll("<", "&lt;").replaceAll(">", "&gt;");
    keepBraces({ utils: { escapeHtml }, renderer: { rules } });
    const tokens = [{ content: "{{{a}}} <b>" }];
    expect(rules.code_inline?.(tokens, 0)).toBe("<code v-pre>{{{a}}} &lt;b&gt;</code>");
    expect(rules.text?.(tokens, 0)).toBe("&#123;&#123;{a}}} &lt;b&gt;");
  });

  it("has a separate address on the site for each page", () => {
    expect(files).toContain("docs/interface.md");
    expect(new Set(files.map(pageOf)).size).toBe(files.length);
    expect(files.filter((file) => !present.includes(file))).toEqual([]);
  });

  it("links to GitHub for files that are not pages", () => {
    expect(resolveLink("../package.json", "docs/interface.md")).toMatch(/^https:\/\/.+\/blob\/HEAD\/package\.json$/);
    expect(resolveLink("security.md#a", "docs/interface.md")).toBe("/security.md#a");
    expect(() => resolveLink("nowhere.md", "docs/interface.md")).toThrow("docs/interface.md links to nowhere.md");
  });
});

describe("the site's search", () => {
  it("ranks guides before decisions, and both before the API reference", () => {
    // The site calls the function from its source text.
    const inPage: typeof weightOf = new Function(`return ${weightOf}`)();
    const weights = (text: string) => {
      const group = groups.find((one) => one.text === text);
      return new Set(group?.files.map((file) => inPage(`/base/${pageOf(file)}#a`)));
    };
    for (const text of ["Start", "Packages", "Examples"]) expect(weights(text), text).toEqual(new Set([1]));
    expect(inPage(`/base/${pageOf("docs/refunds.md")}`)).toBe(1);
    expect(weights("Decisions")).toEqual(new Set([0.5]));
    expect(inPage(`/base/${pageOf("site/api/client.md")}`)).toBe(0.2);
  });
});

describe("links of a built site", () => {
  let folder: string;

  beforeAll(async () => {
    folder = await mkdtemp(path.join(os.tmpdir(), "giftcard-site-"));
    await mkdir(path.join(folder, "in"));
    const page = (body: string) => `<!doctype html><title>A page</title>${body}`;
    const index = `<h1 id="top">A</h1><a href="/pay/in/b.html#here">b</a> <a href="https://other.example/x">x</a>`;
    await writeFile(path.join(folder, "index.html"), page(`${index} <a href="in/b.html#gone">b</a>`));
    const other = `<h2 id="here">B</h2><a href="../#top">a</a> <a href="c.html">c</a> <img src="/other/d.png">`;
    await writeFile(path.join(folder, "in", "b.html"), page(other));
  });
  afterAll(() => rm(folder, { recursive: true }));

  it("are reported if they lead to no file, to no anchor, or out of the site's path", async () => {
    expect(await findDeadLinks(folder, "/pay/")).toEqual({
      pages: 2,
      links: 5,
      dead: ["in/b.html: /other/d.png", "in/b.html: c.html", "index.html: in/b.html#gone"],
    });
  });
});
