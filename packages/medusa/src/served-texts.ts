/**
 * The sentences that say why something isn't done, and what to do, as the shop answers and stores them. The admin pages find
 * them again in an answer, and show them in their own language: its texts are under `served`.
 */
export const SERVED_TEXTS = {
  inexact: "Exactly {{amount}} can't be refunded, since a card takes back only what it was charged at once.",
  nearest: "The nearest is {{amount}}.",
  nearestTwo: "The nearest is {{amount}} or {{other}}.",
  removeUnits: "Remove the units by an edit or a return, then refund the order on its page.",
  useRest: 'To refund all that is left of it, use "Refund the rest" on its own page, under Gift cards.',
  onItsPage: "Refund it on its own page.",
  uncaptured: "{{amount}} of it isn't captured: capture it with the refund, or cancel the order.",
  held: "Another bulk refund includes this order, or a person has exempted it. See the order's own page.",
  inBulk: "A bulk refund is about to refund it: wait until that is done.",
  missing: "There is no such order, or it is canceled.",
  unplanned: "It can't be planned ({{fault}}): look at it, and refund it on its own page.",
  byHand: "{{amount}} of it was refunded by hand, and may have been for these units.",
  awaitsReturn: "A return of it was requested: receive or cancel it first.",
  due: "Its customer still has to pay {{amount}}: get that paid, or remove it from the order by an edit.",
  pending: "Its other payment is still pending, and could settle after the refund: cancel the order instead.",
  short: "Only {{amount}} of its payments is left to refund: the remainder was refunded before.",
  openChange: "An edit, return, exchange, claim or transfer is open: confirm or cancel it.",
  undecided:
    "A refund by the other payment method was begun, and nobody knows whether it was made: decide that first, under Tasks that fail.",
  unbooked:
    "A refund of its payment was begun, and Medusa never booked it: look at the payment method, and refund it on its own page.",
  unsure:
    "If the payment method's response was lost, the money may have been refunded: check the method before you try again.",
  orderChanged: "The order has changed since the plan was made. Look at it.",
  planChanged: "The plan has changed since it was confirmed. Look at it again.",
  owedChanged: "The amount that is owed has changed, or it is refunded already. Look at it again.",
  captureChanged: "{{amount}} of the order isn't captured yet, and would be captured first. Look at it again.",
  notCaptured: "{{amount}} of {{payment}} couldn't be captured: {{fault}}.",
  checkMethod: "Check the payment method. Then try again, or cancel the order.",
  stopped: "The refund stopped: {{fault}}.",
  made: "{{amount}} of it is definitely refunded.",
  nothing: "Nothing was refunded.",
  noJob: "This task is done already, or no longer necessary.",
  noDecision: "This needs no decision any more. Reload the page.",
  notStopped: "Automatic cancellation isn't stopped any more.",
  nothingDone: "Nothing was done.",
} as const;

export type ServedText = keyof typeof SERVED_TEXTS;

type Values = Readonly<Record<string, string>>;

/** Placeholders of amounts, such as `12.50`. The others can be any text. */
const AMOUNTS: readonly string[] = ["amount", "other"];

/** Returns the sentence with these values. */
export const say = (text: ServedText, values: Values = {}): string =>
  SERVED_TEXTS[text].replace(/\{\{(\w+)\}\}/g, (_, name: string) => values[name] ?? "");

/** A sentence that was found in an answer. */
export interface Said {
  readonly text: ServedText;
  readonly values: Values;
}

const quote = (text: string) => text.replace(/[.*+?^$()|[\]\\]/g, "\\$&");
const patterns = Object.entries(SERVED_TEXTS).map(([text, sentence]) => {
  const pattern = quote(sentence).replace(/\{\{(\w+)\}\}/g, (_, name: string) =>
    AMOUNTS.includes(name) ? `(?<${name}>\\d+\\.\\d\\d)` : `(?<${name}>.+?)`,
  );
  return { text: text as ServedText, pattern: new RegExp(`^${pattern}(?: |$)`) };
});

/** Finds the sentences of an answer; null if a part of it is none of them. */
export function findSaid(answer: string): readonly Said[] | null {
  if (answer === "") return [];
  for (const { text, pattern } of patterns) {
    const match = pattern.exec(answer);
    const rest = match && findSaid(answer.slice(match[0].length));
    if (match && rest) return [{ text, values: { ...match.groups } }, ...rest];
  }
  return null;
}

export const isAmount = (name: string): boolean => AMOUNTS.includes(name);
