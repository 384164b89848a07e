/** Sends real key and touch events through the browser's driver, as a person would. */
export interface Hand {
  /** Types a text into the focused field, key by key. */
  type(text: string): Promise<unknown>;
  /** Presses a key, such as `Enter` or `Shift+Tab`. */
  key(name: string): Promise<unknown>;
  /** Touches a point of the viewport. */
  touch(x: number, y: number): Promise<unknown>;
}

/** More parts than the keyboard reaches in any page here. */
const MAX_TABS = 60;

/** Returns the focused element, also inside shadow roots and frames. */
export function focusedPart(): Element | null {
  let part = document.activeElement;
  for (let inner = part; inner; inner = innerFocus(inner)) part = inner;
  return part;
}

const innerFocus = (part: Element) =>
  (part.shadowRoot ?? (part as HTMLIFrameElement).contentDocument)?.activeElement ?? null;

/** Moves the focus to a part by Tab, or by Shift+Tab if it is before the focus. */
export async function tabTo(part: HTMLElement, hand: Hand): Promise<void> {
  for (let tabs = 0; focusedPart() !== part; tabs++) {
    if (tabs > MAX_TABS) throw new Error(`Tab doesn't reach ${part.outerHTML}`);
    await hand.key(isAfterFocus(part) ? "Tab" : "Shift+Tab");
  }
}

function isAfterFocus(part: Element): boolean {
  let [from, to] = [focusedPart(), part];
  if (!from || from === document.body) return true;
  if (from.getRootNode() !== to.getRootNode()) [from, to] = [inDocument(from), inDocument(to)];
  return Boolean(from.compareDocumentPosition(to) & Node.DOCUMENT_POSITION_FOLLOWING);
}

/** Returns the element of the page that the part is inside of: through shadow roots and frames. */
function inDocument(part: Element): Element {
  const { host } = part.getRootNode() as ShadowRoot;
  const outer = host ?? part.ownerDocument.defaultView?.frameElement;
  return outer ? inDocument(outer) : part;
}

/** Moves the focus to a part by the Tab key, then presses a key. */
export async function press(part: HTMLElement, hand: Hand, key = "Enter"): Promise<void> {
  await tabTo(part, hand);
  await hand.key(key);
}

/** Touches the middle of a part. */
export async function tap(part: HTMLElement, hand: Hand): Promise<void> {
  part.scrollIntoView({ block: "center" });
  const { left, top, width, height } = part.getBoundingClientRect();
  const [x, y] = [left + width / 2, top + height / 2];
  const touched = (part.getRootNode() as Document | ShadowRoot).elementFromPoint(x, y);
  if (!touched || !part.contains(touched)) throw new Error(`${touched?.outerHTML} covers ${part.outerHTML}`);
  await hand.touch(x, y);
}
