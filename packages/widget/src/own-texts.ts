/** A part of the page whose texts others may replace. */
type Texts = [part: Element, nodes: ChildNode[]];

/** Returns the elements that have a text of their own, with what is in them. */
const textsIn = (root: ParentNode): Texts[] =>
  [...root.querySelectorAll("*")]
    .map((part): Texts => [part, [...part.childNodes]])
    .filter(([, nodes]) => nodes.some((node) => node instanceof Text && /\S/.test(node.data)));

/**
 * Renders although a translator or a dictionary has replaced text nodes: Lit writes to those that it made, wherever they are
 * now. A text that stays the same also stays translated.
 */
export class OwnTexts {
  #own: Texts[] = [];

  /** Runs `render` on the element's own nodes. */
  during(root: ParentNode, render: () => void): void {
    const replaced = this.#own
      .map(([part, nodes]): [...Texts, ChildNode[]] => [part, nodes, [...part.childNodes]])
      .filter(([, nodes, found]) => found.length !== nodes.length || found.some((node, at) => node !== nodes[at]));
    for (const [part, nodes] of replaced) part.replaceChildren(...nodes);
    const texts = replaced.map(([part]) => part.textContent);
    render();
    this.#own = textsIn(root);
    replaced.forEach(([part, , found], at) => {
      if (part.textContent === texts[at]) part.replaceChildren(...found);
    });
  }
}
