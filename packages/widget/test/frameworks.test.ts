import { execFile } from "node:child_process";
import { cp, mkdir, readFile, rm, symlink, writeFile } from "node:fs/promises";
import path from "node:path";
import { promisify } from "node:util";
import { transform } from "@swc/core";
import { compile } from "svelte/compiler";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { compileScript, compileTemplate, parse } from "vue/compiler-sfc";
import { packPackages } from "../../../scripts/packed/pack.mjs";
import { readmeFromManifest } from "../scripts/readme.mjs";

const here = import.meta.dirname;
const run = promisify(execFile);
// Below the package, so that imports of the frameworks resolve. In node_modules, svelte-check would report no error.
const project = path.join(here, ".cache", `packed-${process.pid}`);

// Makes a shop's project with the frameworks, and with the package as npm would publish it.
beforeAll(async () => {
  const modules = path.join(project, "node_modules");
  await mkdir(path.join(modules, "@giftcard-pay"), { recursive: true });
  const { "@giftcard-pay/widget": tarball = "" } = await packPackages(["widget"], project);
  await run("tar", ["-xf", tarball, "-C", project]);
  await symlink(path.join(project, "package"), path.join(modules, "@giftcard-pay", "widget"));
  await cp(path.join(here, "frameworks"), path.join(project, "src"), { recursive: true });
  await writeFile(path.join(project, "package.json"), '{ "type": "module", "private": true }\n');
  await writeFile(path.join(project, "svelte.config.js"), "export default {};\n");
});

afterAll(() => rm(project, { recursive: true, force: true }));

const source = (name: string) => readFile(path.join(here, "frameworks", name), "utf8");

const react18 = { jsx: "react-jsx" };
const react19 = {
  ...react18,
  paths: Object.fromEntries(
    ["react", "react/*"].map((name) => [name, [`types-react-19${name.slice(5)}`].map(fromRoot)]),
  ),
};
const preact = { jsx: "react-jsx", jsxImportSource: "preact" };
const solid = { jsx: "preserve", jsxImportSource: "solid-js" };

function fromRoot(name: string): string {
  return path.join(here, "..", "..", "..", "node_modules", name);
}

/** Each framework's own compiler, with its strictest settings. A fixture also has mistakes that it must find. */
const compilers: [name: string, compiler: string, options: object, ...files: string[]][] = [
  ["no framework", "typescript/bin/tsc", {}, "plain.ts"],
  ["React 18", "typescript/bin/tsc", react18, "react.tsx"],
  ["React 19", "typescript/bin/tsc", react19, "react.tsx", "jsx.tsx"],
  ["Preact", "typescript/bin/tsc", preact, "preact.tsx"],
  ["Solid", "typescript/bin/tsc", solid, "solid.tsx"],
  ["Vue", "vue-tsc/bin/vue-tsc.js", {}, "Checkout.vue"],
  ["Svelte", "svelte-check/bin/svelte-check", {}, "svelte.ts", "Checkout.svelte"],
];

/** Returns the compiler's errors in the fixtures and in the package. Errors in the frameworks' own types don't count. */
async function compilerErrors(compiler: string, options: object, files: string[]): Promise<string[]> {
  const compilerOptions = {
    strict: true,
    noEmit: true,
    target: "ES2022",
    module: "ESNext",
    moduleResolution: "Bundler",
    lib: ["ES2023", "DOM", "DOM.Iterable"],
    types: [],
    skipLibCheck: false,
    ...options,
  };
  const config = path.join(project, "tsconfig.json");
  const included = files.map((file) => `src/${file}`);
  const vueCompilerOptions = { strictTemplates: true };
  await writeFile(config, JSON.stringify({ compilerOptions, files: included, vueCompilerOptions }));
  const isSvelte = compiler.startsWith("svelte");
  const { stdout } = await run(
    process.execPath,
    [fromRoot(compiler), ...(isSvelte ? ["--output", "machine", "--tsconfig", config] : ["--project", config])],
    { cwd: project },
  ).catch((error: { stdout: string }) => ({ stdout: error.stdout }));
  // Without a file, the compiler may have checked nothing.
  if (isSvelte) expect(stdout).toMatch(/COMPLETED [1-9]/);
  return stdout.split("\n").filter((line) => /error/i.test(line) && /giftcard|\bsrc\//.test(line));
}

describe("the packed package", () => {
  it.each(compilers)("compiles with %s", { tags: "long" }, async (_name, compiler, options, ...files) => {
    expect(await compilerErrors(compiler, options, files)).toEqual([]);
  });

  it("has types for `node10` module resolution, which ignores `exports`", { tags: "long" }, async () => {
    const { exports } = JSON.parse(await readFile(path.join(project, "package", "package.json"), "utf8"));
    const entries = Object.keys(exports).filter((name) => !name.endsWith(".json"));
    const imports = entries.map((name) => `import type {} from "@giftcard-pay/widget${name.slice(1)}";\n`);
    await writeFile(path.join(project, "src", "entries.ts"), imports.join(""));
    const node10 = { ...react18, moduleResolution: "node10", ignoreDeprecations: "6.0" };
    const errors = await compilerErrors("typescript/bin/tsc", node10, ["entries.ts"]);
    expect(errors.filter((line) => line.includes("@giftcard-pay/widget"))).toEqual([]);
  });

  it("compiles with SWC, which React frameworks use", async () => {
    const { code } = await transform(await source("jsx.tsx"), {
      jsc: { parser: { syntax: "typescript", tsx: true }, transform: { react: { runtime: "automatic" } } },
    });
    expect(code).toContain('"ongiftcard-total"');
  });

  it("compiles in a Svelte component", async () => {
    const { js, warnings } = compile(await source("Checkout.svelte"), { filename: "Checkout.svelte" });
    expect(warnings).toEqual([]);
    expect(js.code).toContain("giftcard-total");
  });

  it("compiles in a Vue component", async () => {
    const { descriptor, errors } = parse(await source("Checkout.vue"));
    const { bindings } = compileScript(descriptor, { id: "checkout" });
    const compiled = compileTemplate({
      source: descriptor.template?.content ?? "",
      filename: "Checkout.vue",
      id: "checkout",
      compilerOptions: {
        isCustomElement: (tag) => tag.startsWith("giftcard-"),
        ...(bindings && { bindingMetadata: bindings }),
      },
    });
    expect([...errors, ...compiled.errors]).toEqual([]);
    expect(compiled.code).toContain("onGiftcardTotal:");
  });

  it("imports on a server, with and without React", async () => {
    const program = `
      await import("@giftcard-pay/widget/define");
      const { createElement } = await import("react");
      const { renderToString } = await import("react-dom/server");
      const { GiftcardPay } = await import("@giftcard-pay/widget/react");
      console.log(renderToString(createElement(GiftcardPay, { cart: "cart_1", lang: "nl" })));`;
    await writeFile(path.join(project, "server.mjs"), program);
    const { stdout } = await run(process.execPath, [path.join(project, "server.mjs")]);
    expect(stdout).toContain("<giftcard-pay");
  });

  it("describes both tags in its manifest and in the data for VS Code", async () => {
    const read = async (name: string) =>
      JSON.parse(await readFile(path.join(project, "package", "dist", name), "utf8"));
    const manifest = await read("custom-elements.json");
    const { customElements } = JSON.parse(await readFile(path.join(project, "package", "package.json"), "utf8"));
    expect(customElements).toBe("dist/custom-elements.json");
    const names = manifest.modules.flatMap((module: { declarations: { tagName: string }[] }) =>
      module.declarations.map(({ tagName }) => tagName),
    );
    expect(names.sort()).toEqual(["giftcard-balance", "giftcard-pay"]);
    const tags = (await read("vscode.html-custom-data.json")).tags as {
      name: string;
      attributes: unknown[];
    }[];
    expect(tags.find(({ name }) => name === "giftcard-pay")?.attributes).toHaveLength(5);
  });
});

describe("the README", () => {
  it("has the tables of the current manifest", async () => {
    const { before, after } = await readmeFromManifest();
    expect(before, "run `node packages/widget/scripts/readme.mjs`").toBe(after);
  });
});
