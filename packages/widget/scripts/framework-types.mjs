/** Writes the types of both tags for JSX, Vue and Svelte from the manifest. */
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

function tags(elements, typeOf, nameOf) {
  return elements
    .map((element) => `    "${element.tagName}": ${typeOf(element)} & {\n${listenersOf(element, nameOf)}\n    };`)
    .join("\n");
}

const importTypes = (elements) =>
  `import type { ${elements.map(({ name }) => name).join(", ")}, GiftcardEventMap } from "./index.js";\n`;

const jsx = (elements) => `${importTypes(elements)}
${elements.map(propsOf).join("\n")}
/** The props that JSX passes to any element. */
interface Common {
  id?: string;
  class?: string;
  className?: string;
  style?: unknown;
  slot?: string;
  part?: string;
  hidden?: boolean;
  dir?: "ltr" | "rtl" | "auto";
  title?: string;
  tabIndex?: number;
  key?: string | number | null;
  ref?: unknown;
  children?: unknown;
}

/** The tags with their props. Extend your framework's \`JSX.IntrinsicElements\` with them. */
export interface CustomElements {
${tags(
  elements,
  ({ name }) => `Common & ${name}Props`,
  (name) => `on${name}`,
)}
}
`;

const vue = (elements) => `import type { DefineComponent } from "vue";
import type { GiftcardEventMap } from "./index.js";
import type { ${elements.map(({ name }) => `${name}Props`).join(", ")} } from "./jsx.js";

declare module "vue" {
  interface GlobalComponents {
${elements
  .map(
    (element) =>
      `    "${element.tagName}": DefineComponent<${element.name}Props & {\n${listenersOf(element, (name) => `on${camel(`-${name}`)}`)}\n    }>;`,
  )
  .join("\n")}
  }
}
`;

const svelte = (elements) => `import type { HTMLAttributes } from "svelte/elements";
${importTypes(elements)}import type { ${elements.map(({ name }) => `${name}Props`).join(", ")} } from "./jsx.js";

declare module "svelte/elements" {
  interface SvelteHTMLElements {
${tags(
  elements,
  ({ name }) => `Omit<HTMLAttributes<${name}>, keyof ${name}Props> & ${name}Props`,
  (name) => `on${name}`,
)}
  }
}
`;

/** Writes each as a type declaration file with an empty module next to it, so that it can be imported. */
export async function writeFrameworkTypes() {
  const elements = await readElements();
  for (const [name, write] of Object.entries({ jsx, vue, svelte })) {
    await writeFile(path.join(dist, `${name}.d.ts`), `${write(elements)}`);
    await writeFile(path.join(dist, `${name}.js`), "export {};\n");
  }
}
