/** Biome checks everything else; these rules look into templates, which Biome can't read. */
import { createRequire } from "node:module";

// The plugins belong to scripts/, as do all tools that not every machine can install.
const require = createRequire(new URL("scripts/package.json", import.meta.url));
const lit = require("eslint-plugin-lit");
const accessibility = require("eslint-plugin-lit-a11y");
const components = require("eslint-plugin-wc");
const typescript = require("typescript-eslint");

// Its recommended set names some rules that this release of the plugin doesn't have.
const accessibilityRules = Object.entries(accessibility.configs.recommended.rules).filter(
  ([name]) => name.replace("lit-a11y/", "") in accessibility.rules,
);

export default [
  {
    files: ["packages/widget/src/**/*.ts", "examples/medusa-store/storefront/src/**/*.ts"],
    languageOptions: { parser: typescript.parser },
    plugins: { lit, wc: components, "lit-a11y": accessibility },
    settings: { litHtmlSources: ["lit"] },
    rules: {
      ...lit.configs["flat/recommended"].rules,
      ...components.configs["flat/recommended"].rules,
      ...components.configs["flat/best-practice"].rules,
      ...Object.fromEntries(accessibilityRules),
    },
  },
];
