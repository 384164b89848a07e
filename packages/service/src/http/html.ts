/** Markup, which is not escaped again. */
export class Html {
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
export const html = (pieces: TemplateStringsArray, ...parts: Part[]): Html =>
  new Html(pieces.reduce((text, piece, index) => text + markupOf(parts[index - 1] ?? "") + piece));

function markupOf(part: Part): string {
  if (part instanceof Html) return part.toString();
  if (typeof part === "object") return part.map(markupOf).join("");
  return String(part).replace(/[&<>"']/g, (one) => ENTITIES[one] ?? one);
}
