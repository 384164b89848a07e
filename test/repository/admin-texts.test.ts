import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import ts from "typescript";
import { describe, expect, it } from "vitest";
import { jobKinds } from "../../packages/medusa/src/recovery/failing-jobs.js";
import { SENTENCES, sentencesOf } from "../../packages/medusa/src/sentences.js";

/* The pages that the plugins add to the admin of Medusa or Vendure are complete in each of their languages. */

const packages = path.resolve(import.meta.dirname, "../../packages");
const folderOf = (plugin: string) => path.join(packages, plugin, plugin === "vendure" ? "src/dashboard" : "src/admin");
const languages = ["de", "en", "fr", "nl"] as const;
type Language = (typeof languages)[number];

interface Tree {
  readonly [key: string]: string | Tree;
}

/** Returns the texts of a language by their keys, such as `charges.title`. */
function textsOf(plugin: string, language: Language): Map<string, string> {
  const file = path.join(folderOf(plugin), `i18n/${language}.json`);
  const flat = (tree: Tree, prefix: string): [string, string][] =>
    Object.entries(tree).flatMap(([key, value]) =>
      typeof value === "string" ? [[prefix + key, value]] : flat(value, `${prefix}${key}.`),
    );
  // The server's commands and logs print these, so the English ones are in its code.
  const why = plugin === "medusa" && language === "en" ? { why: SENTENCES } : {};
  return new Map(flat({ ...JSON.parse(readFileSync(file, "utf8")), ...why }, ""));
}

const placeholdersOf = (text: string) => [...text.matchAll(/\{\{(\w+)\}\}/g)].map(([, name]) => name).sort();
const PLURAL = /_(zero|one|two|few|many|other)$/;

/** The forms that a plural needs in a language. i18next chooses among them by the same rules. */
const formsOf = (language: Language) => new Intl.PluralRules(language).resolvedOptions().pluralCategories.toSorted();

/** Reads the components and what belongs to them, apart from the texts. */
function sourcesOf(plugin: string): ts.SourceFile[] {
  const folder = folderOf(plugin);
  const names = readdirSync(folder, { recursive: true, encoding: "utf8" });
  return names
    .filter((name) => /\.tsx?$/.test(name) && !name.startsWith(`i18n${path.sep}`))
    .map((name) => {
      const text = readFileSync(path.join(folder, name), "utf8");
      return ts.createSourceFile(name, text, ts.ScriptTarget.Latest, true);
    });
}

const collect = <T>(node: ts.Node, find: (node: ts.Node) => T | undefined): T[] => {
  const found = find(node);
  const below: T[] = [];
  ts.forEachChild(node, (child) => void below.push(...collect(child, find)));
  return found === undefined ? below : [found, ...below];
};

const hasWord = (text: string) => /\p{L}{2}/u.test(text);
/** Words with a space between them, or a capitalized one: a text for people. Classes and codes have neither. */
const looksLikeText = (text: string) => /^\p{Lu}\p{Ll}+$|\p{L}{2,}[.,:?!]? \p{L}{2,}/u.test(text);

/** Attributes whose values aren't read by people. */
const technical = ["className", "accept"];
/** Functions whose arguments aren't read by people. */
const internal = /^(t|useTexts|import|TypeError|RangeError)$/;

/** Finds texts for people that are written into a component. */
function textsIn(source: ts.SourceFile): string[] {
  return collect(source, (node) => {
    if (ts.isJsxText(node)) return hasWord(node.text) ? node.text.trim() : undefined;
    const isText = ts.isStringLiteral(node) || ts.isTemplateHead(node) || ts.isNoSubstitutionTemplateLiteral(node);
    if (!isText || !looksLikeText(node.text)) return undefined;
    for (let above: ts.Node = node.parent; above; above = above.parent) {
      if (ts.isImportDeclaration(above) || ts.isTypeNode(above)) return undefined;
      if (ts.isJsxAttribute(above) && technical.includes(above.name.getText())) return undefined;
      if (ts.isCallExpression(above) && internal.test(above.expression.getText())) return undefined;
    }
    return node.text;
  });
}

describe.each(["medusa", "medusa-events", "vendure"])("the admin pages of %s", (plugin) => {
  const english = textsOf(plugin, "en");
  const bases = new Set([...english.keys()].map((key) => key.replace(PLURAL, "")));

  it.each(languages)("have each text in %s, with the same placeholders", (language) => {
    const texts = textsOf(plugin, language);
    const isPlural = (base: string) => english.has(`${base}_other`);
    const keys = [...bases].flatMap((base) =>
      isPlural(base) ? formsOf(language).map((form) => `${base}_${form}`) : [base],
    );
    expect([...texts.keys()].toSorted()).toEqual(keys.toSorted());
    for (const [key, text] of texts) {
      expect(text.trim(), key).not.toBe("");
      const [own, other] = [
        placeholdersOf(text),
        placeholdersOf(english.get(key) ?? english.get(key.replace(PLURAL, "_other")) ?? ""),
      ];
      // A form for one may leave out the number and the beginning of a period.
      if (key.endsWith("_one")) expect(other, key).toEqual(expect.arrayContaining(own));
      else expect(own, key).toEqual(other);
    }
  });

  it.each(languages.filter((language) => language !== "en"))("are translated into %s", (language) => {
    const wordsOf = (text: string) => text.replace(/\{\{\w+\}\}/g, "").match(/\p{L}{2,}/gu) ?? [];
    const own = [...textsOf(plugin, language)].filter(([, text]) => wordsOf(text).length > 0);
    const same = own.filter(([key, text]) => text === english.get(key));
    // Words such as “Status” are the same in several languages.
    expect(same.filter(([, text]) => wordsOf(text).length > 2)).toEqual([]);
    expect(same.length).toBeLessThan(english.size / 10);
  });

  it("have no text in a component", () => {
    // Documents of GraphQL look like texts.
    const sources = sourcesOf(plugin).filter(({ fileName }) => plugin !== "vendure" || fileName !== "client/calls.ts");
    const found = sources.flatMap((source) => textsIn(source).map((text) => `${source.fileName}: ${text}`));
    expect(found).toEqual([]);
  });

  it("use every text", () => {
    const code = sourcesOf(plugin)
      .map(({ text }) => text)
      .join("\n");
    const used = [...code.matchAll(/["`]([a-zA-Z-]+(?:\.[\w-]+|\.\$\{[^}]+\})+)["`]/g)].map(([, key]) => key as string);
    const patterns = used.map(
      (key) => new RegExp(`^${key.replace(/\$\{[^}]+\}/g, "[^.]+(\\.\\w+)*").replace(/\./g, (dot) => dot)}$`),
    );
    const groups = [...code.matchAll(/codeText\((?:\w+, )?"([\w.]+)"/g)].map(([, group]) => `${group}.`);
    const server = path.join(packages, plugin, "src");
    const said = readdirSync(server, { recursive: true, encoding: "utf8" })
      .filter((name) => name.endsWith(".ts") && !name.startsWith("admin") && name !== "sentences.ts")
      .map((name) => readFileSync(path.join(server, name), "utf8"))
      .join("\n");
    const isSaid = (base: string) => base.startsWith("why.") && said.includes(`"${base.slice("why.".length)}"`);
    const isUsed = (base: string) =>
      isSaid(base) || patterns.some((pattern) => pattern.test(base)) || groups.some((group) => base.startsWith(group));
    expect([...bases].filter((base) => !isUsed(base))).toEqual([]);
  });
});

/** Texts of ours that name the same as these of Medusa's, and a stem of Medusa's word for it. */
const medusasWords = {
  "states.captured": "orders.activity.events.payment.captured",
  "reconciliation.paymentStates.captured": "orders.activity.events.payment.captured",
  "bulk.capture_other": "orders.payment.capture_short",
  "reconciliation.paymentStates.refunded": "orders.payment.status.refunded",
  "statement.refunded": "orders.payment.status.refunded",
  "reconciliation.paymentStates.canceled": "orders.fulfillment.status.canceled",
  "common.order": "orders.domain",
  "jobs.kinds.credit_line": "orders.creditLines.title",
} as const;

it.each(languages)("the pages use Medusa's words in %s", (language) => {
  const ours = textsOf("medusa", language);
  const dashboard = path.resolve(packages, "../node_modules/@medusajs/dashboard/src/i18n/translations");
  const medusas = JSON.parse(readFileSync(path.join(dashboard, `${language}.json`), "utf8"));
  const stemOf = (text: string) => (text.toLowerCase().split(" ").at(-1) as string).slice(0, 4);
  for (const [own, theirs] of Object.entries(medusasWords)) {
    const text: string = theirs.split(".").reduce((tree, key) => tree[key], medusas);
    expect(ours.get(own)?.toLowerCase(), own).toContain(stemOf(text));
  }
  // A word in brackets would be a second one for the same.
  expect([...ours].filter(([, text]) => language !== "en" && /\(capture\)/i.test(text))).toEqual([]);
});

it("each fault of the service is put into words", () => {
  const texts = textsOf("medusa", "en");
  const source = readFileSync(path.join(packages, "client/src/errors.ts"), "utf8");
  const codesOf = (type: string) =>
    [...(new RegExp(`export type ${type} =([^;]+);`).exec(source)?.[1] ?? "").matchAll(/"(\w+)"/g)].map(
      ([, code]) => code,
    );
  const codes = [...codesOf("UnreachableErrorCode"), ...codesOf("ProtocolErrorCode"), "unauthorized", "rate_limited"];
  expect(codes.length).toBeGreaterThan(10);
  expect(codes.filter((code) => !texts.has(`reasons.${code}`))).toEqual([]);
});

it("each kind of job has a text", () => {
  const texts = textsOf("medusa", "en");
  expect(jobKinds.filter((kind) => !texts.has(`jobs.kinds.${kind}`))).toEqual([]);
});

it("reasons are written with their values", () => {
  const values = { amountCents: 1250, otherCents: 2500 };
  expect(sentencesOf([{ code: "nearestTwo", values }, { code: "nothing" }])).toBe(
    "The nearest is 12.50 or 25.00. Nothing was refunded.",
  );
});
