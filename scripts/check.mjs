/** Runs all checks that don't run the product: style, templates, types, schemas, packages. */
import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import path from "node:path";
import { build } from "./build.mjs";
import { checkBlocks } from "./check/blocks.mjs";
import { checkChangesets, whyNoChangesets } from "./check/changesets.mjs";
import { hiddenSubjects } from "./check/comments.mjs";
import { checkDashboardTypes } from "./check/dashboard-types.mjs";
import { faultsOfTable, writers } from "./check/faults-table.mjs";
import { importsThatGoUp } from "./check/folders.mjs";
import { tooLong } from "./check/lengths.mjs";
import { deadLinks } from "./check/markdown.mjs";
import { longPages } from "./check/page-lengths.mjs";
import { PAGE, violationsIn } from "./check/written-tables.mjs";
import { command, loadTypeScript, root, UsageError } from "./lib/command.mjs";
import { runNode } from "./lib/process.mjs";
import { published as packages } from "./packed/pack.mjs";
import { readVersion, staleFiles } from "./release/version-places.mjs";

const require = createRequire(import.meta.url);

/** Returns the path of a package's executable. @param {string} name @param {string} [command] */
function bin(name, command) {
  const file = findPackage(name);
  const { bin } = require(file);
  return path.join(path.dirname(file), typeof bin === "string" ? bin : bin[command ?? name]);
}

/** Finds a package's manifest. `require.resolve` can't: some packages don't export their package.json. @param {string} name */
function findPackage(name) {
  for (const folder of require.resolve.paths(name) ?? []) {
    const file = path.join(folder, name, "package.json");
    try {
      return require.resolve(file);
    } catch {}
  }
  throw new Error(`${name} is not installed. Run npm ci.`);
}

/**
 * A check.
 * @typedef {object} Step
 * @property {string} name
 * @property {() => Promise<unknown>} run rejects with the findings
 * @property {() => Promise<string | undefined>} [unless] the reason to skip the check; undefined runs it
 * @property {string} fix how to fix a failure
 */

/** @param {string} name @param {string[]} args @param {string} [folder] */
const node = (name, args, folder = ".") =>
  runNode({ name, args, cwd: path.join(root, folder), env: { NO_COLOR: "1" } });

/** @param {string} project */
const types = (project) => node(`tsc ${project}`, [bin("typescript", "tsc"), "--noEmit", "--project", project]);

/** Checks a package as npm would publish it: the paths that it exports, and its types for each module system. @param {string} name @returns {Step} */
function packed(name) {
  const folder = `packages/${name}`;
  // Entries that Node doesn't load: files for a page's tags, and admin pages for Medusa's own bundler.
  // Vendure's storefront entry is an ES module for pages.
  const others = {
    vendure: ["storefront"],
    widget: ["standalone", "giftcard-pay.css"],
    medusa: ["admin"],
    "medusa-events": ["admin"],
  }[name];
  // Without a profile, attw also checks `node10`. Medusa requires `node16`, and the widget's own tests cover its `node10` types.
  const profile = others ? ["--profile", "node16", "--exclude-entrypoints", ...others] : [];
  return {
    name: `package ${name}`,
    async run() {
      await node("publint", [bin("publint"), "run", "--strict"], folder);
      await node("attw", [bin("@arethetypeswrong/cli", "attw"), "--pack", ".", "--no-emoji", ...profile], folder);
    },
    fix: `check exports, files and types in ${folder}/package.json`,
  };
}

/** @type {Step[]} */
const steps = [
  {
    name: "style",
    run: () =>
      node("biome", [bin("@biomejs/biome", "biome"), "check", "--colors=off", "--diagnostic-level=error", "."]),
    fix: "npm run format fixes most of it",
  },
  {
    name: "templates",
    run: () => node("eslint", [bin("eslint"), "packages/widget/src", "examples/medusa-store/storefront/src"]),
    fix: "fix the reported lines; eslint.config.js lists the rules",
  },
  {
    name: "version",
    async run() {
      const stale = await staleFiles(root, await readVersion(root, packages));
      if (stale.length > 0)
        throw new Error(`These files have another version: ${stale.map(([file]) => file).join(", ")}.`);
    },
    fix: "run npm run release -- version, which updates them",
  },
  {
    name: "changesets",
    unless: async () => whyNoChangesets(root, await readVersion(root, packages)),
    run: () => checkChangesets(root),
    fix: "run npx changeset, describe what the change means to users, and commit the file in .changeset",
  },
  { name: "build", run: () => build(), fix: "run npm run build to reproduce the error" },
  {
    name: "links",
    async run() {
      const dead = await deadLinks(root);
      if (dead.length > 0) throw new Error(`These links are broken:\n${dead.join("\n")}`);
    },
    fix: "fix the links, or the headings that they name",
  },
  {
    name: "blocks",
    run: () => checkBlocks(root, bin("typescript", "tsc")),
    fix: "fix the blocks; scripts/check/blocks.mjs lists the words allowed after their language",
  },
  {
    name: "folders",
    async run() {
      const up = await importsThatGoUp(root);
      if (up.length > 0) throw new Error(`These imports go up the list in docs/architecture.md:\n${up.join("\n")}`);
    },
    fix: "move the imported code to a folder further down the list",
  },
  {
    name: "comments",
    async run() {
      const hidden = await hiddenSubjects(root);
      if (hidden.length > 0) throw new Error(`These comments hide their subject:\n${hidden.join("\n")}`);
    },
    fix: "begin each with a verb or a noun",
  },
  {
    name: "lengths",
    async run() {
      const long = [...(await tooLong(root)), ...(await longPages(root))];
      if (long.length > 0) throw new Error(`These are too long:\n${long.join("\n")}`);
    },
    fix: "split code into modules that each do one job; move text of a page to another page, or of a cell below its table",
  },
  {
    name: "test results",
    async run() {
      const document = await readFile(path.join(root, PAGE), "utf8");
      /** @type {typeof import("../test/prove/faults/matrix.js")} */
      const { allCells } = await loadTypeScript("test/prove/faults/matrix.ts");
      /** @type {typeof import("../test/prove/faults/vendure/run.js")} */
      const { vendureCells } = await loadTypeScript("test/prove/faults/vendure/run.ts");
      const wrong = [allCells(), vendureCells()].flatMap((cells, index) =>
        faultsOfTable(document, /** @type {(typeof writers)[number]} */ (writers[index]), cells),
      );
      wrong.push(...violationsIn(document));
      if (wrong.length > 0) throw new Error(`${PAGE}:\n${wrong.join("\n")}`);
    },
    fix: "run the commands that write the tables, such as npm run prove -- faults; no cell may be bad, and no run have a violation",
  },
  {
    name: "types of tests and scripts",
    async run() {
      await build();
      for (const project of ["tsconfig.tests.json", "packages/service/test", "packages/widget/test"])
        await types(project);
      for (const plugin of ["medusa", "medusa-events"]) await types(`packages/${plugin}/src/admin`);
      await checkDashboardTypes(root);
      for (const project of ["examples/medusa-store", "examples/medusa-store/storefront"]) await types(project);
    },
    fix: "fix the reported lines",
  },
  {
    name: "docs",
    run: () => node("docs", ["scripts/docs.mjs", "--check"]),
    fix: "fix what is reported, then run npm run docs",
  },
  {
    name: "schemas",
    run: () => node("schema", ["scripts/docs.mjs", "schema", "--check"]),
    fix: "don't edit released migrations, add one; then run npm run docs -- schema and review the changes",
  },
  ...packages.map(packed),
  {
    name: "sizes",
    run: () => node("sizes", ["scripts/docs.mjs", "sizes", "--check"]),
    fix: "find out what was added; if it is intended, run npm run docs -- sizes to record it",
  },
];

const HELP = `Checks style, templates, versions, pages, types, schemas and packages.

  npm run check                    everything
  npm run check -- style           only these checks
  npm run format                   fixes what can be fixed automatically

Checks: ${steps.map((step) => step.name.replaceAll(" ", "-")).join(", ")}
`;

/** @param {Step[]} chosen */
async function runAll(chosen) {
  const failed = [];
  for (const step of chosen) {
    const startedAt = performance.now();
    process.stdout.write(`${step.name} … `);
    try {
      const why = await step.unless?.();
      if (why === undefined) await step.run();
      process.stdout.write(`${why ?? `${((performance.now() - startedAt) / 1000).toFixed(1)} s`}\n`);
    } catch (error) {
      failed.push(step);
      process.stdout.write(`failed\n${error instanceof Error ? error.message : error}\n\n`);
    }
  }
  for (const step of failed) process.stdout.write(`✗ ${step.name}: ${step.fix}\n`);
  process.stdout.write(`${chosen.length - failed.length} passed, ${failed.length} failed\n`);
  return failed.length > 0 ? 1 : 0;
}

await command({ help: HELP, positionals: true }, async ({ positionals }) => {
  const named = (/** @type {Step} */ step) => positionals.includes(step.name.replaceAll(" ", "-"));
  const chosen = positionals.length > 0 ? steps.filter(named) : steps;
  if (chosen.length < positionals.length) throw new UsageError("Unknown check.");
  return runAll(chosen);
});
