import { executeServerCommand } from "@web/test-runner-commands";

/** Only Chromium lets a test speak to it this way. */
export const hasDevtools = !navigator.userAgent.includes("Firefox");

/** Calls a method of the browser's own protocol. */
export const send = <Answer>(method: string, params: object = {}): Promise<Answer> =>
  executeServerCommand<Answer, { method: string; params: object }>("devtools", { method, params });

/** Lets the browser pretend media features, such as `forced-colors: active`. */
export async function pretend(features: Record<string, string>): Promise<void> {
  const list = Object.entries(features).map(([name, value]) => ({ name, value }));
  await send("Emulation.setEmulatedMedia", { features: list });
}

interface AxNode {
  nodeId: string;
  ignored: boolean;
  role?: { value: string };
  name?: { value: string };
  childIds?: string[];
  properties?: { name: string; value: { value: unknown } }[];
}

const dull = new Set([
  "generic",
  "none",
  "StaticText",
  "InlineTextBox",
  "paragraph",
  "LabelText",
  "ListMarker",
]);
const telling = ["required", "invalid", "disabled", "pressed", "focused"];

/** What a screen reader finds in the group of this name: role, name and what stands out of each, in order. */
export async function accessibilityTree(group: string): Promise<string[]> {
  const { nodes } = await send<{ nodes: AxNode[] }>("Accessibility.getFullAXTree");
  const byId = new Map(nodes.map((node) => [node.nodeId, node]));
  const root = nodes.find((node) => node.role?.value === "group" && node.name?.value === group);
  const lines: string[] = [];
  const walk = (id: string) => {
    const node = byId.get(id);
    if (!node) return;
    const role = node.role?.value ?? "";
    if (!node.ignored && !dull.has(role)) {
      const is = (node.properties ?? []).filter(
        ({ name, value }) => telling.includes(name) && value.value && value.value !== "false",
      );
      const name = (node.name?.value ?? "").replace(/\s+/g, " ").trim();
      lines.push(
        [role, name && JSON.stringify(name), ...is.map((one) => one.name)].filter(Boolean).join(" "),
      );
    }
    for (const child of node.childIds ?? []) walk(child);
  };
  for (const child of root?.childIds ?? []) walk(child);
  return lines;
}
