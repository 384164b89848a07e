/** IBM's accessibility checker, which finds other things than axe does. Its engine runs in the page. */
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

/** Loads the engine, a script that sets a global name. */
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

/** What fails WCAG 2.2 A or AA for certain in a part of the page; what only a person can judge isn't in it. */
export async function definiteFindings(part: Element): Promise<string[]> {
  const { ace } = globalThis as unknown as { ace: Engine };
  const { results } = await new ace.Checker().check(part, ["WCAG_2_2"]);
  return results
    .filter(({ value: [kind, outcome] }) => kind === "VIOLATION" && outcome === "FAIL")
    .map(({ ruleId, message, snippet }) => `${ruleId}: ${message} ${snippet}`);
}
