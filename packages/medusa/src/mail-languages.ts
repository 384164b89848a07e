/** The languages of the order mail and of `renderPaidBy`. */
export const mailLanguages = ["en", "nl", "de", "fr"] as const;

/** A language of the order mail and of `renderPaidBy`. */
export type MailLanguage = (typeof mailLanguages)[number];
