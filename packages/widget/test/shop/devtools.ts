import { executeServerCommand } from "@web/test-runner-commands";

/** Whether the browser supports the DevTools protocol. Of the tested browsers, only Chromium does. */
export const hasDevtools = navigator.userAgent.includes("Chrome");

/** Calls a method of the DevTools protocol. */
export const send = <Answer>(method: string, params: object = {}): Promise<Answer> =>
  executeServerCommand<Answer, { method: string; params: object }>("devtools", { method, params });

/** Emulates media features, such as `forced-colors: active`. */
export async function emulateMedia(features: Record<string, string>): Promise<void> {
  const list = Object.entries(features).map(([name, value]) => ({ name, value }));
  await send("Emulation.setEmulatedMedia", { features: list });
}

interface AxNode {
  nodeId: string;
  ignored: boolean;
  role?: { value: string };
  name?: { value: string };
  description?: { value: string };
  childIds?: string[];
  properties?: { name: string; value: { value: unknown } }[];
}

const ignoredRoles = new Set([
  "generic",
  "none",
  "StaticText",
  "InlineTextBox",
  "paragraph",
  "LabelText",
  "ListMarker",
]);
const listedProperties = ["required", "invalid", "disabled", "pressed", "focused"];

/** Returns what a screen reader finds in the group of this name: role, name and properties of each node, in order. */
export async function accessibilityTree(group: string): Promise<string[]> {
  const { nodes } = await send<{ nodes: AxNode[] }>("Accessibility.getFullAXTree");
  const byId = new Map(nodes.map((node) => [node.nodeId, node]));
  const root = nodes.find((node) => node.role?.value === "group" && node.name?.value === group);
  const lines: string[] = [];
  const walk = (id: string) => {
    const node = byId.get(id);
    if (!node) return;
    const role = node.role?.value ?? "";
    if (!node.ignored && !ignoredRoles.has(role)) {
      const properties = (node.properties ?? [])
        .filter(({ name, value }) => listedProperties.includes(name) && value.value && value.value !== "false")
        .map(({ name }) => name);
      const name = (node.name?.value ?? "").replace(/\s+/g, " ").trim();
      lines.push([role, name && JSON.stringify(name), ...properties].filter(Boolean).join(" "));
    }
    for (const child of node.childIds ?? []) walk(child);
  };
  for (const child of root?.childIds ?? []) walk(child);
  return lines;
}

/** Returns what a screen reader reads after the name of the text box of this name. */
export async function descriptionOf(name: string): Promise<string | undefined> {
  const { nodes } = await send<{ nodes: AxNode[] }>("Accessibility.getFullAXTree");
  return nodes.find((node) => node.role?.value === "textbox" && node.name?.value === name)?.description?.value;
}
