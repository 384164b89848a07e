/** The API reference of the packages, from their sources. */
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import { Application, Logger, LogLevel, OptionDefaults, ReflectionKind, UnknownType } from "typedoc";
import { build } from "../build.mjs";
import { root } from "../lib/command.mjs";
import { CompactTheme } from "./theme.mjs";

/** @import { DeclarationReflection, ParameterReflection, ProjectReflection, TypeDocOptions } from "typedoc" */

/** The folder of the pages, which the site shows as api/. */
export const API = "site/api";
const cache = path.join(root, "node_modules", ".cache", "giftcard-pay");

/**
 * Entry points by package, without "@giftcard-pay/". An export of two entries is documented on one page.
 * @type {Record<string, { from: string, file: string, about: string }[]>}
 */
const packages = {
  client: [
    { from: "client", file: "src/index.ts", about: "the card service's typed client" },
    {
      from: "client/contract",
      file: "src/contract/index.ts",
      about: "the nine operations as one table, with the shapes of events and every error code",
    },
  ],
  events: [
    {
      from: "events",
      file: "src/index.ts",
      about: "a shop's events: checked, read from JSON or a product, and written for others",
    },
    { from: "events/push", file: "src/push/index.ts", about: "events sent to an issuer, each once" },
    { from: "events/csv", file: "src/formats/csv.ts", about: "events as a table" },
    { from: "events/icalendar", file: "src/formats/icalendar.ts", about: "events as a calendar" },
    { from: "events/table", file: "src/formats/table.ts", about: "any table, as spreadsheets write it" },
  ],
  checkout: [
    {
      from: "checkout",
      file: "src/index.ts",
      about: "the money flow of a shop: its checkout, its handler, and its store on PostgreSQL",
    },
    {
      from: "checkout/storefront",
      file: "src/storefront.ts",
      about: "the shapes that a page and a shop's server exchange, and every error code",
    },
    {
      from: "checkout/operator",
      file: "src/operator/index.ts",
      about: "decisions, reconciliation, statements, health",
    },
    { from: "checkout/remainder", file: "src/remainder.ts", about: "the adapter of a payment method" },
    { from: "checkout/node", file: "src/http/node.ts", about: "the handler in `node:http`" },
    { from: "checkout/stripe", file: "src/methods/stripe.ts", about: "the remainder by Stripe" },
    { from: "checkout/mollie", file: "src/methods/mollie.ts", about: "the remainder by Mollie" },
    { from: "checkout/sqlite", file: "src/store/sqlite/store.ts", about: "books in one SQLite file" },
    { from: "checkout/conformance", file: "conformance/index.ts", about: "tests for a store or an issuer of your own" },
    {
      from: "checkout/testing",
      file: "testing/index.ts",
      about: "an issuer and a bank in memory, for the tests of a shop",
    },
    {
      from: "checkout/store",
      file: "src/store/index.ts",
      about: "the states, records and interfaces of a store",
    },
    {
      from: "checkout/plugin",
      file: "src/plugin.ts",
      about: "the engine and its parts, for the plugin of a shop system such as Medusa",
    },
  ],
  widget: [
    {
      from: "widget",
      file: "src/index.ts",
      about:
        "the elements' classes and events; [the README](../../packages/widget/README.md) has their attributes and styles",
    },
  ],
  medusa: [
    {
      from: "medusa",
      file: "src/index.ts",
      about: "the Medusa plugin: `withGiftcard`, also by `@giftcard-pay/medusa/config`, and its options",
    },
    {
      from: "medusa/paid-by",
      file: "src/reports/paid-by.ts",
      about: "how an order was paid, for a shop's own mails, invoices and pages",
    },
  ],
  "medusa-events": [
    { from: "medusa-events", file: "src/index.ts", about: "the options of the Medusa plugin for shows" },
  ],
  vendure: [
    { from: "vendure", file: "src/index.ts", about: "the Vendure plugin, its options, and the outstanding amount" },
    { from: "vendure/storefront", file: "src/storefront.mts", about: "`<giftcard-pay>` on Vendure's Shop API" },
  ],
  service: [{ from: "service", file: "src/index.ts", about: "the card service, started from code" }],
};

/** "checkout/node" → "checkout-node" @param {string} from */
const pageOf = (from) => from.replace("/", "-");

const { Class, Enum, Function: AFunction, Interface, Method, TypeAlias, Variable } = ReflectionKind;
const mustBeDocumented = [Class, Enum, AFunction, Interface, Method, TypeAlias, Variable];

/** @param {string} name @param {string} folder TypeDoc's output folder @returns {TypeDocOptions & Record<string, unknown>} */
const optionsOf = (name, folder) => ({
  plugin: ["typedoc-plugin-markdown"],
  logLevel: "Warn",
  theme: "compact",
  // Always set it: by default TypeDoc writes into docs/, and empties it first.
  out: folder,
  cleanOutputDir: false,
  entryPoints: packages[name]?.map(({ file }) => path.join(root, "packages", name, file)),
  sortEntryPoints: false,
  tsconfig: path.join(root, "packages", name, "tsconfig.json"),
  alwaysCreateEntryPointModule: true,
  // The build does that.
  skipErrorChecking: true,
  readme: "none",
  disableSources: true,
  excludePrivate: true,
  excludeProtected: true,
  excludeExternals: true,
  excludeInternal: true,
  excludeReferences: true,
  sort: ["alphabetical"],
  groupOrder: ["Functions", "Classes", "Interfaces", "Type Aliases", "Constructors", "Properties", "*"],
  // The widget's README has these, from the elements' manifest.
  blockTags: [...OptionDefaults.blockTags, ...elementTags],
  modifierTags: OptionDefaults.modifierTags.filter((tag) => tag !== "@event"),
  excludeTags: [...OptionDefaults.excludeTags, ...elementTags, "@category", "@nocollapse"],
  preservedTypeAnnotationTags: ["@throws"],
  externalSymbolLinkMappings: Object.fromEntries(
    ["client", "checkout"]
      .filter((other) => other !== name)
      .map((other) => [`@giftcard-pay/${other}`, { "*": `${other}.md` }]),
  ),
  requiredToBeDocumented: mustBeDocumented.map((kind) => /** @type {never} */ (ReflectionKind[kind])),
  validation: { notExported: false, invalidLink: true, notDocumented: true, rewrittenLink: false },
  outputFileStrategy: "modules",
  flattenOutputFiles: true,
  pageTitleTemplates: {
    module: (/** @type {{ name: string }} */ { name }) => {
      const entry = Object.values(packages)
        .flat()
        .find(({ from }) => pageOf(from) === name);
      return entry ? `@giftcard-pay/${entry.from}` : name;
    },
  },
  hidePageHeader: true,
  hideBreadcrumbs: true,
  useCodeBlocks: true,
  expandObjects: true,
  expandParameters: true,
  hideGroupHeadings: true,
  parametersFormat: "none",
  interfacePropertiesFormat: "table",
  classPropertiesFormat: "table",
  typeAliasPropertiesFormat: "table",
  propertyMembersFormat: "table",
  typeDeclarationFormat: "table",
  tableColumnSettings: {
    hideDefaults: true,
    hideInherited: true,
    hideOverrides: true,
    hideModifiers: true,
    leftAlignHeaders: true,
  },
});
const elementTags = /** @type {const} */ ([
  "@tag",
  "@event",
  "@slot",
  "@csspart",
  "@cssproperty",
  "@cssstate",
  "@fires",
]);

/** Static members of the elements that only Lit and the browser use. */
const litsOwn = new Set(["styles", "properties", "formAssociated"]);

/** Collects TypeDoc's warnings and errors. */
class Complaints extends Logger {
  /** @type {string[]} */
  texts = [];

  /** @override @param {string} message @param {LogLevel} level */
  log(message, level) {
    super.log(message, level);
    if (level >= LogLevel.Warn) this.texts.push(message);
  }
}

/**
 * Returns the pages of one package, by file name.
 *
 * @param {string} name
 * @returns {Promise<{ pages: [string, string][], faults: string[] }>}
 */
async function document(name) {
  const folder = await mkdtemp(path.join(cache, "docs-"));
  try {
    const app = await Application.bootstrapWithPlugins(optionsOf(name, folder));
    const complaints = new Complaints();
    app.logger = complaints;
    app.renderer.defineTheme("compact", /** @type {never} */ (CompactTheme));
    const project = await app.convert();
    if (!project) return { pages: [], faults: complaints.texts };
    prune(project, name);
    app.validate(project);
    await app.generateOutputs(project);
    const files = (await readdir(folder)).filter((file) => file !== "README.md");
    const texts = await Promise.all(files.map((file) => readFile(path.join(folder, file), "utf8")));
    return {
      pages: files.map((file, i) => [file, tidy(String(texts[i]))]),
      faults: complaints.texts,
    };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Names the pages, and removes content that is duplicate or too long. @param {ProjectReflection} project @param {string} name */
function prune(project, name) {
  const modules = project.getChildrenByKind(ReflectionKind.Module);
  for (const [i, { from }] of (packages[name] ?? []).entries()) {
    const module = modules[i];
    if (module) module.name = pageOf(from);
  }
  for (const parameter of project.getReflectionsByKind(ReflectionKind.Parameter)) {
    const { type } = /** @type {ParameterReflection} */ (parameter);
    // A destructured parameter has no name.
    if (parameter.name === "__namedParameters")
      parameter.name = type?.type === "reference" ? type.name.replace(/^./, (c) => c.toLowerCase()) : "options";
  }
  for (const child of modules.flatMap((module) => module.children ?? [])) {
    if (child.kindOf(Variable) && child.type?.type === "reflection") child.type = new UnknownType("object");
    const isShown = (/** @type {DeclarationReflection} */ member) =>
      // Inherited members are documented at the parent class, if that is shown.
      !(child.kindOf(Class) && member.inheritedFrom?.reflection) &&
      !litsOwn.has(member.name) &&
      (!member.kindOf(ReflectionKind.Constructor) || member.signatures?.some((one) => one.hasComment()));
    for (const member of child.children?.filter((one) => !isShown(one)) ?? []) project.removeReflection(member);
    for (const group of child.groups ?? [])
      group.children = group.children.filter((one) => project.getReflectionById(one.id));
    child.groups = child.groups?.filter(({ children }) => children.length > 0);
  }
}

/** @param {string} text */
const tidy = (text) => {
  const [title, ...rest] = text.split("\n").map((line) => line.trimEnd());
  const body = rest.filter((line) => line !== "***").join("\n");
  return `${title}\n\n[All of the API](README.md)\n${body}`
    .replaceAll(/\n{3,}/g, "\n\n")
    .trim()
    .concat("\n");
};

/**
 * Returns the pages by file name, and the exports that have no comment.
 *
 * @param {{ say: (text: string) => void, signal?: AbortSignal }} options
 * @returns {Promise<{ pages: Map<string, string>, faults: string[] }>}
 */
export async function documentApi({ say, signal }) {
  // Packages import each other's built types.
  await build(["client", "checkout", "events"], { progress: say, ...(signal && { signal }) });
  await mkdir(cache, { recursive: true });
  const pages = new Map();
  const faults = [];
  for (const name of Object.keys(packages)) {
    const startedAt = performance.now();
    const made = await document(name);
    for (const [file, text] of made.pages) pages.set(file, text);
    faults.push(...made.faults.map((fault) => `${name}: ${fault}`));
    say(`${name}: ${((performance.now() - startedAt) / 1000).toFixed(1)} s`);
  }
  pages.set("README.md", index());
  return { pages: withoutUnusedAnchors(pages), faults };
}

function index() {
  const rows = Object.values(packages)
    .flat()
    .map(({ from, about }) => `| [\`@giftcard-pay/${from}\`](${pageOf(from)}.md) | ${about} |`);
  return `# API reference

Everything that the packages export, from their sources by \`npm run docs\`. Amounts are whole cents.

| Import | |
|---|---|
${rows.join("\n")}
`;
}

/** @param {Map<string, string>} pages */
function withoutUnusedAnchors(pages) {
  const used = new Set(
    [...pages.values()].flatMap((text) => [...text.matchAll(/\]\([^)]*#([^)]+)\)/g)].map(([, id]) => id)),
  );
  const strip = (/** @type {string} */ text) =>
    text.replaceAll(/<a id="([^"]+)"><\/a> ?/g, (anchor, id) => (used.has(id) ? anchor : ""));
  return new Map([...pages].map(([file, text]) => [file, strip(text)]));
}

/** Writes the pages into `API`. @param {{ say: (text: string) => void, signal: AbortSignal }} options @throws if an export has no comment */
export async function writeApi(options) {
  const { pages, faults } = await documentApi(options);
  if (faults.length > 0) throw new Error(faults.join("\n"));
  const out = path.join(root, API);
  await rm(out, { recursive: true, force: true });
  await mkdir(out, { recursive: true });
  for (const [file, text] of pages) await writeFile(path.join(out, file), text);
}
