import { formatCents } from "@giftcard-pay/client/contract";
import { lockedUntil } from "../store/card-locks.js";
import { type Card, findCard, listMovements, type Movement } from "../store/card-lookup.js";
import { addCardArgument, type CardOptions, readCardReference } from "./card-argument.js";
import { type CommonOptions, command, withContext } from "./context.js";

/** `card show` */
export const show = () =>
  addCardArgument(command("show", "Show a card's status, balance and expiry date"))
    .option("--history", "also list the card's movements, oldest first: time, kind, amount, balance, company")
    .action(async (argument: string | undefined, options: CommonOptions & CardOptions & { history?: true }) => {
      const reference = await readCardReference(argument, options);
      await withContext(options, async ({ pool, out, keyring }) => {
        const keys = await keyring();
        const card = await findCard(pool, keys, reference);
        const history = options.history && (await listMovements(pool, card.id));
        // Guesses are counted by card number, so the lock is shown only to those who know the number.
        const until = "cardNumber" in reference ? await lockedUntil(pool, keys, reference.cardNumber) : undefined;
        const end = until instanceof Date ? until.toISOString() : "`card unlock`";
        const lock = until ? `, locked by wrong PINs until ${end}` : "";
        out.result(
          {
            ...shownCard(card),
            ...(until !== undefined && { locked_until: until }),
            ...(history && { history: history.map(shownMovement) }),
          },
          [cardLine(card) + lock, ...(history ?? []).map(movementLine)].join("\n"),
        );
      });
    });

/** Formats a card for `--json`. */
export const shownCard = (card: Card) => ({
  card: card.id,
  card_status: card.cardStatus,
  balance: card.balanceCents,
  currency: "EUR",
  expiry_date: card.expiryDate,
  last_four: card.lastFour,
  blocked: card.isBlocked,
  inactive_balance: card.inactiveCents,
  reissued_as: card.reissuedAs,
  batch: card.batchId,
});

/** Formats a card for people. */
export const cardLine = ({ id, lastFour, cardStatus, balanceCents, expiryDate, ...more }: Card) =>
  [
    `card ${id} ending in ${lastFour}: ${cardStatus}, ${formatCents(balanceCents)} EUR, expires ${expiryDate}`,
    more.inactiveCents !== null && `not sold yet: activation puts ${formatCents(more.inactiveCents)} EUR on it`,
    more.reissuedAs !== null && `reissued as card ${more.reissuedAs}`,
  ]
    .filter(Boolean)
    .join(", ");

const shownMovement = ({ at, kind, amountCents, companyId, balanceCents, auditId, otherCardId }: Movement) => ({
  at,
  kind,
  amount: amountCents,
  company_id: companyId,
  balance: balanceCents,
  audit: auditId,
  other_card: otherCardId,
});

const movementLine = ({ at, kind, amountCents, companyId, balanceCents, otherCardId }: Movement) =>
  [
    at.toISOString(),
    kind.padEnd(7),
    `${amountCents < 0 ? "" : "+"}${formatCents(amountCents)}`.padStart(12),
    formatCents(balanceCents).padStart(12),
    companyId === null ? "" : `company ${companyId}`,
    otherCardId === null ? "" : `card ${otherCardId}`,
  ]
    .join("  ")
    .trimEnd();
