/** A finding of IBM's accessibility checker. It runs in the page, and has other rules than axe. */
interface Result {
  ruleId: string;
  value: [string, string];
  message: string;
  snippet: string;
}

interface Engine {
  Checker: new () => { check(node: Node, rules: string[]): Promise<{ results: Result[] }> };
}

const address = "/node_modules/accessibility-checker-engine/ace.js";

/** Loads the checker's engine, a script that sets a global variable. */
export async function load(): Promise<void> {
  const script = document.createElement("script");
  script.src = address;
  const loaded = new Promise((resolve, reject) => {
    script.addEventListener("load", resolve, { once: true });
    script.addEventListener("error", reject, { once: true });
  });
  document.head.append(script);
  await loaded;
}

/** Returns the definite failures of WCAG 2.2 A and AA in a part of the page, without those that a person must judge. */
export async function definiteFindings(part: Element): Promise<string[]> {
  const { ace } = globalThis as unknown as { ace: Engine };
  const { results } = await new ace.Checker().check(part, ["WCAG_2_2"]);
  return results
    .filter(({ value: [kind, outcome] }) => kind === "VIOLATION" && outcome === "FAIL")
    .map(({ ruleId, message, snippet }) => `${ruleId}: ${message} ${snippet}`);
}
