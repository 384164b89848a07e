import { execFile } from "node:child_process";
import { cp, mkdir, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import path from "node:path";
import { promisify } from "node:util";
import { transform } from "@swc/core";
import { compile } from "svelte/compiler";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { compileScript, compileTemplate, parse } from "vue/compiler-sfc";
import { packPackages } from "../../../scripts/packed/pack.mjs";
import { readmeFromManifest } from "../scripts/readme.mjs";

const here = import.meta.dirname;
const require = createRequire(import.meta.url);
const run = promisify(execFile);
// Inside node_modules, so that imports of the frameworks resolve as in a shop's project.
const project = path.join(here, "..", "..", "..", "node_modules", ".cache", "giftcard-pay", `packed-${process.pid}`);

// Makes a shop's project with the frameworks, and with the package as npm would publish it.
beforeAll(async () => {
  const modules = path.join(project, "node_modules");
  await mkdir(path.join(modules, "@giftcard-pay"), { recursive: true });
  const { "@giftcard-pay/widget": tarball = "" } = await packPackages(["widget"], project);
  await run("tar", ["-xf", tarball, "-C", project]);
  await symlink(path.join(project, "package"), path.join(modules, "@giftcard-pay", "widget"));
  await cp(path.join(here, "frameworks"), path.join(project, "src"), { recursive: true });
  await writeFile(path.join(project, "package.json"), '{ "type": "module", "private": true }\n');
  const options = {
    strict: true,
    noEmit: true,
    target: "ES2022",
    module: "ESNext",
    moduleResolution: "Bundler",
    jsx: "react-jsx",
    lib: ["ES2023", "DOM", "DOM.Iterable"],
    types: [],
    skipLibCheck: false,
  };
  await writeFile(
    path.join(project, "tsconfig.json"),
    JSON.stringify({ compilerOptions: options, include: ["src/*.ts", "src/*.tsx"] }),
  );
});

afterAll(() => rm(project, { recursive: true, force: true }));

const source = (name: string) => readFile(path.join(here, "frameworks", name), "utf8");

/** Returns the compiler's errors in the fixtures and in the package. Errors in the frameworks' own types don't count. */
async function compilerErrors(...options: string[]): Promise<string[]> {
  const tsc = require.resolve("typescript/bin/tsc");
  const { stdout } = await run(process.execPath, [tsc, "--project", project, ...options]).catch(
    (error: { stdout: string }) => ({ stdout: error.stdout }),
  );
  return stdout.split("\n").filter((line) => /giftcard|^src|\/src\//.test(line));
}

describe("the packed package", () => {
  it("compiles in projects with React, JSX, Vue and Svelte, and without a framework", { tags: "long" }, async () => {
    expect(await compilerErrors()).toEqual([]);
  });

  it("has types for `node10` module resolution, which ignores `exports`", { tags: "long" }, async () => {
    const errors = await compilerErrors("--moduleResolution", "node10", "--ignoreDeprecations", "6.0");
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
