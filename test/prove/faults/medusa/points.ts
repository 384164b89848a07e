const moved = (state: string) => new RegExp(`update giftcard_charge set state[\\s\\S]*${state}`);

/** The statement at which the database's network fails, for each step and point. */
export const statements: Record<string, RegExp> = {
  "quote written": /insert into giftcard_tender/,
  "session written": /insert into "?payment_session/,
  "devalue not sent": /update giftcard_charge set state[\s\S]*sent_at|insert into giftcard_charge[\s\S]*'sent'/,
  "devalue answered": moved("devalued"),
  "remainder authorized": /insert into "payment" [\s\S]*pp_bank_bank/,
  "order written": /insert into "order" /,
  "order committed": moved("committed"),
  "capture written": /insert into "capture"/,
  "cancel owed": moved("reversing"),
  "cancel written": /update "order" set[\s\S]*canceled/,
  "refund written": /insert into "refund"/,
  "refund kept": /update "payment" set/,
  "recovery claims": /update giftcard_charge set lease_owner/,
  "recovery ended": moved("(?:reversed|refused)"),
};

/** Points where only a crash leaves work: between Medusa's record of a capture or refund, and the action. */
export const deadlyStatements: Record<string, RegExp> = {
  ...statements,
  "capture confirmed": moved("captured"),
  "capture booked": /insert into "order_transaction"/,
  "refund owed": moved("reversing"),
  "refund ended": moved("reversed"),
  "refund booked": /insert into "order_transaction"/,
  "charges begun": /insert into giftcard_charge/,
  "charge not sent": moved("'intent'"),
  "card authorized": /insert into payment /,
};
