const table = (name: string) => `"public".giftcard_${name}`;
/** A charge or a purchase comes to this state: its id, or a list with it, ends, then the parameter's length, then the state. */
const movedText = (name: "charge" | "purchase", state: string) =>
  `update ${table(name)} set state[\\s\\S]*[0-9a-f]{12}(?:"})?\\0\\0\\0[\\s\\S]${state}`;
const moved = (...[name, state]: Parameters<typeof movedText>) => new RegExp(movedText(name, state));

/** The statement at which the database's network fails, for each step and point. */
export const statements: Record<string, RegExp> = {
  "quote written": new RegExp(`insert into ${table("tender")}`),
  "devalue, purchase begun": new RegExp(`insert into ${table("purchase")}`),
  "devalue, charge begun": new RegExp(`insert into ${table("charge")}`),
  // A charge that is an order's only one begins as sent.
  "devalue not sent": new RegExp(`${movedText("charge", "sent")}|insert into ${table("charge")}[\\s\\S]*\\bsent\\b`),
  "devalue answered": moved("charge", "devalued"),
  "remainder pending": moved("purchase", "pending"),
  "return, card committed": moved("charge", "committed"),
  "return, order paid": moved("purchase", "paid"),
  "decline owed": moved("purchase", "voiding"),
  "decline ended": moved("purchase", "failed"),
  "sweep claims": new RegExp(`update ${table("purchase")} set lease_owner[\\s\\S]*skip locked`),
  "cancel owed": moved("purchase", "canceling"),
  "cancel ended": moved("purchase", "canceled"),
  "refund owed": moved("purchase", "refunding"),
  "recovery claims": new RegExp(`update ${table("charge")} set lease_owner`),
  "recovery ended": moved("charge", "(?:reversed|refused)"),
};

/** The points where an order is charged by line, and where one of its units is refunded. */
export const byLineStatements: Record<string, RegExp> = {
  ...statements,
  "charges begun": statements["devalue, charge begun"] as RegExp,
  "card committed": moved("charge", "committed"),
  "refund begun": new RegExp(`insert into ${table("refund")}`),
  "charge owed": moved("charge", "reversing"),
  "charge back": moved("charge", "reversed"),
  // The purchase is still in the same state: its lease is made longer before the bank is asked.
  "bank's turn": new RegExp(`^(?![\\s\\S]*giftcard_refund)[\\s\\S]*${movedText("purchase", "refunding")}`),
  "refund done": new RegExp(`update ${table("refund")} set done_at`),
};

/** Any statement that writes, for a process that dies with an answer in hand. */
export const anyWrite = /\b(?:update|insert into) "public"\./;
