import type { openApiDocument } from "@giftcard-pay/client/contract";
import { textAnswer } from "./answer.js";
import { docsStyle } from "./docs-style.js";
import type { Routes } from "./routes.js";

/** The part of JSON Schema that the contract uses. */
interface Schema {
  readonly type?: string;
  readonly format?: string;
  readonly const?: unknown;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly anyOf?: readonly Schema[];
  readonly items?: Schema;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
}

interface Media {
  readonly schema: Schema;
  readonly example?: unknown;
  readonly examples?: Readonly<Record<string, { summary: string; value: unknown }>>;
}

interface Operation {
  readonly operationId: string;
  readonly summary: string;
  readonly tags: readonly string[];
  readonly security: readonly unknown[];
  readonly parameters?: readonly { name: string; description: string; example: string }[];
  readonly requestBody?: { content: Readonly<Record<string, Media>> };
  readonly responses: Readonly<Record<string, { content: Readonly<Record<string, Media>> }>>;
}

type OpenApi = ReturnType<typeof openApiDocument>;

/** Allows no scripts, and only resources of this host. */
const POLICY =
  "default-src 'none'; style-src 'self'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/** Adds the page at /docs, which shows the interface: static HTML from the OpenAPI document. */
export function docsRoutes(routes: Routes, document: OpenApi): void {
  const headers = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
  };
  const text = (type: string, content: string) => {
    const body = Buffer.from(content);
    return () => textAnswer(200, `${type}; charset=utf-8`, body, headers);
  };
  const page = text("text/html", String(pageOf(document)));
  for (const path of ["/docs", "/docs/"]) routes.add("GET", path, page);
  routes.add("GET", "/docs/style.css", text("text/css", docsStyle));
}

function pageOf({ info, tags, paths }: OpenApi) {
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods as Record<string, Operation>).map(([method, operation]) => ({
      path,
      method: method.toUpperCase(),
      ...operation,
    })),
  );
  return html`<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>${info.title}</title>
    <link rel="stylesheet" href="/docs/style.css">
    <link rel="icon" href="data:,">
  </head>
  <body>
    <header>
      <h1>${info.title} <small>${info.version}</small></h1>
      <p>${marked(info.description)}</p>
      <p><a href="/openapi.json">openapi.json</a> has the same for programs.</p>
    </header>
    <main>
      ${tags.map(
        ({ name }) => html`<h2>${name}</h2>
      ${operations.filter((operation) => operation.tags.includes(name)).map(operationOf)}`,
      )}
    </main>
  </body>
</html>
`;
}

function operationOf(operation: Operation & { path: string; method: string }) {
  const { operationId, path, method, summary, parameters = [], requestBody, responses } = operation;
  const { 200: done, ...refusals } = responses;
  const answer = done?.content["application/json"];
  const media = Object.entries(requestBody?.content ?? {});
  const headers: [name: string, text: string][] = [
    ...(operation.security.length > 0
      ? [["Authorization", "Basic: email and password, in UTF-8."] as [string, string]]
      : []),
    ...parameters.map(({ name, description }): [string, string] => [name, description]),
  ];
  return html`<details id="${operationId}" class="operation">
        <summary><b class="method">${method}</b> <code>${path}</code> <span>${summary}</span></summary>
        ${headers.length > 0 ? html`<h3>Headers</h3>${tableOf(headers.map(([name, text]) => [html`<code>${name}</code>`, marked(text)]))}` : ""}
        ${media.slice(-1).map(
          ([, { schema }]) => html`<h3>Parameters</h3>
        <p>${media.map(([type]) => type).join(" or ")}</p>
        ${fieldsOf(schema)}`,
        )}
        <h3>Example</h3>
        <pre>${curlOf(operation)}</pre>
        <h3>Answer</h3>
        ${answer ? html`${fieldsOf(answer.schema)}<pre>${JSON.stringify(answer.example, null, 2)}</pre>` : ""}
        <h3>Refusals</h3>
        ${tableOf(Object.entries(refusals).flatMap(([status, { content }]) => refusalsOf(status, content)))}
      </details>
      `;
}

type Cell = string | Html | readonly (string | Html)[];

const tableOf = (rows: readonly (readonly Cell[])[]) =>
  html`<table>${rows.map((cells) => html`<tr>${cells.map((cell) => html`<td>${cell}</td>`)}</tr>`)}</table>`;

const refusalsOf = (status: string, content: Readonly<Record<string, Media>>): Cell[][] =>
  Object.entries(content["application/json"]?.examples ?? {}).map(([code, { value }]) => [
    status,
    html`<code>${code}</code>`,
    html`<code>${JSON.stringify(value)}</code>`,
  ]);

/** Writes a request for a terminal, with the examples of the OpenAPI document. */
function curlOf({ path, method, security, parameters = [], requestBody }: Parameters<typeof operationOf>[0]) {
  const media = Object.entries(requestBody?.content ?? {})[0];
  const words = [`curl -X ${method} https://cards.example${path}`];
  if (security.length > 0) words.push("--user shop@example.nl");
  for (const { name, example } of parameters) words.push(`-H '${name}: ${example}'`);
  if (media?.[0] === "application/json") {
    words.push("-H 'Content-Type: application/json'", `-d '${JSON.stringify(media[1].example, null, 2)}'`);
  } else {
    for (const [name, value] of Object.entries(media?.[1].example ?? {})) words.push(`-d ${name}=${value}`);
  }
  return words.join(" \\\n  ");
}

/** Writes a table of an object's fields, including those of objects in its lists. */
const fieldsOf = (schema: Schema) => {
  const rows = rowsOf(schema);
  return rows.length > 0 ? tableOf(rows) : "";
};

function rowsOf(schema: Schema, prefix = ""): Cell[][] {
  if (schema.type === "array" && schema.items) return rowsOf(schema.items, `${prefix}[].`);
  return Object.entries(schema.properties ?? {}).flatMap(([name, field]) => [
    [
      html`<code>${prefix}${name}</code>`,
      schema.required?.includes(name) ? "required" : html`<i>optional</i>`,
      kindOf(field),
    ],
    ...rowsOf(field, field.type === "array" ? `${prefix}${name}` : `${prefix}${name}.`),
  ]);
}

/** Describes a field's values in words. The page's introduction says that an integer may be a decimal string too. */
function kindOf(schema: Schema): string {
  const { anyOf = [], minimum, maximum, minLength, maxLength, minItems, maxItems } = schema;
  const kinds = anyOf.filter((one) => one.const !== "");
  if (kinds.some(({ type }) => type === "integer")) return withRange("integer", minimum, maximum);
  if (kinds.length > 0) return [...kinds.map(kindOf), ...(kinds.length < anyOf.length ? ["empty"] : [])].join(", or ");
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  if (schema.type === "array") return withRange("list", minItems, maxItems);
  if (schema.type === "string" && !schema.format) return withRange("text", minLength, maxLength, " characters");
  return withRange(schema.format ?? schema.type ?? "anything", minimum, maximum);
}

function withRange(kind: string, from: number | undefined, to: number | undefined, unit = ""): string {
  if (from !== undefined && to !== undefined) return `${kind}, ${from} to ${to}${unit}`;
  if (to !== undefined) return `${kind}, at most ${to}${unit}`;
  return from === undefined ? kind : `${kind}, at least ${from}${unit}`;
}

/** Formats text in backticks as code. */
const marked = (text: string) =>
  text.split("`").map((part, index) => (index % 2 === 1 ? html`<code>${part}</code>` : part));

/** Markup, which is not escaped again. */
class Html {
  constructor(private readonly text: string) {}

  toString(): string {
    return this.text;
  }
}

const ENTITIES: Record<string, string> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

type Part = string | number | Html | readonly Part[];

/** Creates markup. Values are escaped, unless they are markup themselves. */
const html = (pieces: TemplateStringsArray, ...parts: Part[]): Html =>
  new Html(pieces.reduce((text, piece, index) => text + markupOf(parts[index - 1] ?? "") + piece));

function markupOf(part: Part): string {
  if (part instanceof Html) return part.toString();
  if (typeof part === "object") return part.map(markupOf).join("");
  return String(part).replace(/[&<>"']/g, (one) => ENTITIES[one] ?? one);
}
