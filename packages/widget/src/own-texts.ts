/** Elements that have a text of their own, with the nodes that Lit made in them. */
export type OwnTexts = [part: HTMLElement, nodes: ChildNode[]][];

/**
 * Renders although a translator or a dictionary has replaced text nodes: Lit writes to those that it made, wherever they are
 * now. A text that stays the same also stays translated. Texts with digits are not to be translated: a translator may be
 * late, and show an amount as it was.
 * @param own the result of the last time
 */
export function renderOwn(own: OwnTexts, root: ParentNode, render: () => void): OwnTexts {
  const replaced = own.flatMap(([part, nodes]) => {
    const found = [...part.childNodes];
    if (nodes.every((node, at) => node === found[at])) return [];
    part.replaceChildren(...nodes);
    return [{ part, found, text: part.textContent }];
  });
  render();
  const rendered: OwnTexts = [];
  for (const part of root.querySelectorAll<HTMLElement>("*")) {
    const nodes = [...part.childNodes];
    if (!nodes.some((node) => node instanceof Text && node.data.trim())) continue;
    rendered.push([part, nodes]);
    if (/\d/.test(part.textContent)) part.translate = false;
  }
  for (const { part, found, text } of replaced) if (part.textContent === text) part.replaceChildren(...found);
  return rendered;
}
