/** Writes the types of both tags for frameworks from the manifest. */
import { readFile, writeFile } from "node:fs/promises";
import path from "node:path";

const dist = path.join(import.meta.dirname, "..", "dist");

/** @returns {Promise<object[]>} the declarations of both elements */
export async function readElements() {
  const { modules } = JSON.parse(await readFile(path.join(dist, "custom-elements.json"), "utf8"));
  return modules.flatMap(({ declarations }) => declarations).sort((a, b) => (a.tagName > b.tagName ? -1 : 1));
}

/** Returns the members of an element that a page may set. */
export function settable({ members }) {
  return members.filter(({ kind, readonly, static: isStatic }) => kind === "field" && !readonly && !isStatic);
}

function propsOf(element) {
  const lines = settable(element).flatMap(({ name, attribute, description }) => {
    const names = attribute && attribute !== name ? [name, JSON.stringify(attribute)] : [name];
    return names.map((prop) => `  /** ${description} */\n  ${prop}?: ${element.name}[${JSON.stringify(name)}];`);
  });
  return `export interface ${element.name}Props {\n${lines.join("\n")}\n}\n`;
}

/** @param {(name: string) => string} nameOf returns a framework's name for the listener of an event */
function listenersOf({ events }, nameOf) {
  return events
    .map(({ name, description }) => {
      const type = `GiftcardEventMap[${JSON.stringify(name)}]`;
      return `    /** ${description} */\n    ${JSON.stringify(nameOf(name))}?: (event: ${type}) => void;`;
    })
    .join("\n");
}

const camel = (text) => text.replace(/-(\w)/g, (_, letter) => letter.toUpperCase());

const indent = (text) => text.replace(/^(?=.)/gm, "  ");

/**
 * Returns the tags with their types: what a framework accepts at any element, the props, and the listeners.
 * @param {(name: string) => string} attributesOf returns the framework's type for the class of an element
 * @param {(name: string) => string} nameOf
 * @param {(type: string, name: string) => string} [typeOf] returns the tag's type
 */
function tags(elements, attributesOf, nameOf, typeOf = (type) => type) {
  return elements
    .map((element) => {
      const { name, tagName } = element;
      const any = `Omit<${attributesOf(name)}, keyof ${name}Props>`;
      return `  "${tagName}": ${typeOf(`${any} & ${name}Props & {\n${listenersOf(element, nameOf)}\n  }`, name)};`;
    })
    .join("\n");
}

/** Returns the imports of a file, and its tags in an interface of a framework. */
function augmentation(elements, framework, imported, path, interfaceName, ...types) {
  const names = elements.map(({ name }) => name);
  const inside = `interface ${interfaceName} {\n${tags(elements, ...types)}\n}`;
  const [module, namespace] = path;
  const body = namespace ? `namespace ${namespace} {\n${indent(inside)}\n}` : inside;
  return `import type { ${imported} } from "${framework}";
import type { ${names.join(", ")}, GiftcardEventMap } from "./index.js";
import type { ${names.map((name) => `${name}Props`).join(", ")} } from "./props.js";

declare module "${module}" {
${indent(body)}
}
`;
}

const plainListener = (name) => `on${name}`;

const props = (elements) =>
  `import type { ${elements.map(({ name }) => name).join(", ")} } from "./index.js";\n\n${elements.map(propsOf).join("\n")}`;

/** React 19. Its attributes miss two that only elements with a dash in their name have. */
const jsx = (elements) =>
  augmentation(
    elements,
    "react",
    "DetailedHTMLProps, HTMLAttributes",
    ["react", "JSX"],
    "IntrinsicElements",
    (name) => `DetailedHTMLProps<HTMLAttributes<${name}>, ${name}>`,
    plainListener,
    (type, name) => `{ class?: string; inputmode?: HTMLAttributes<${name}>["inputMode"] } & ${type}`,
  );

const preact = (elements) =>
  augmentation(
    elements,
    "preact",
    "HTMLAttributes",
    ["preact", "JSX"],
    "IntrinsicElements",
    (name) => `HTMLAttributes<${name}>`,
    plainListener,
  );

const solid = (elements) =>
  augmentation(
    elements,
    "solid-js",
    "JSX as Solid",
    ["solid-js", "JSX"],
    "IntrinsicElements",
    (name) => `Solid.HTMLAttributes<${name}>`,
    (name) => `on:${name}`,
    (type, name) => `{ [Name in keyof ${name}Props as \`prop:\${Name}\`]?: ${name}Props[Name] } & ${type}`,
  );

/** Vue. Its attributes miss the one that puts content into a slot of an element. */
const vue = (elements) =>
  augmentation(
    elements,
    "vue",
    "HTMLAttributes, PublicProps",
    ["vue"],
    "GlobalComponents",
    () => "HTMLAttributes & PublicProps",
    (name) => `on${camel(`-${name}`)}`,
    (type, name) => `new () => ${name} & { $props: ${type} }`,
  ).replace(/\}\n$/, "  interface HTMLAttributes {\n    slot?: string;\n  }\n}\n");

const svelte = (elements) =>
  augmentation(
    elements,
    "svelte/elements",
    "HTMLAttributes",
    ["svelte/elements"],
    "SvelteHTMLElements",
    (name) => `HTMLAttributes<${name}>`,
    plainListener,
  );

/** Writes each as a type declaration file with an empty module next to it, so that it can be imported. */
export async function writeFrameworkTypes() {
  const elements = await readElements();
  for (const [name, write] of Object.entries({ props, jsx, preact, solid, vue, svelte })) {
    await writeFile(path.join(dist, `${name}.d.ts`), `${write(elements)}`);
    await writeFile(path.join(dist, `${name}.js`), "export {};\n");
  }
}
