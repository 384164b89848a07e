import type { Messages } from "./messages.js";

/** German. */
export const de: Messages = {
  title: "Geschenkkarte",
  cardNumber: "Nummer der Geschenkkarte",
  pin: "PIN",
  showPin: "PIN anzeigen",
  cardNumberMissing: "Geben Sie die Kartennummer ein.",
  pinMissing: "Geben Sie die PIN ein.",
  check: "Guthaben prüfen",
  use: "Karte verwenden",
  cancel: "Abbrechen",
  cardEnding: "Karte mit den Endziffern {last4}",
  balance: "Guthaben",
  remainder: "Noch zu zahlen",
  limit: "Mit einer Geschenkkarte können Sie pro Bestellung höchstens {limit} zahlen.",
  kept: "{kept} bleiben auf der Karte",
  nothingTaken: "Abgebucht wird erst, wenn Sie bestellen.",
  validUntil: "Gültig bis {date}",
  apply: "{amount} einlösen",
  another: "Weitere Karte hinzufügen",
  remove: "Entfernen",
  removeCard: "Karte mit den Endziffern {last4} entfernen",
  expired:
    "Die Angaben dieser Karte liegen uns nicht mehr vor, sie zahlt also nichts. Geben Sie die Karte erneut ein, um sie zu nutzen.",
  settling:
    "Eine Zahlung mit dieser Karte ist noch nicht abgeschlossen. Das kann einige Minuten dauern. Kommt sie nicht zustande, geht das Geld auf die Karte zurück.",
  notPlaced: "Ihre Bestellung wurde nicht aufgegeben.",
  covered: "Geschenkkarten",
  nothingLeft: "Nichts mehr zu zahlen",
  maxCards:
    "Für diese Bestellung sind keine weiteren Geschenkkarten möglich (höchstens {count}). Zahlen Sie den Rest auf andere Weise.",
  sandbox: "Testmodus",
  retry: "Erneut versuchen",
  without: "{amount} ohne die Karte zahlen",
  wait: "Sie können es {time} erneut versuchen.",
  waitOver: "Sie können es jetzt erneut versuchen.",
  slow: "Das dauert länger als sonst.",
  changedOrder: "Ihre Bestellung hat sich von {before} auf {total} geändert.",
  changedBalance: "Das Guthaben der Karte mit den Endziffern {last4} hat sich geändert.",
  announceBalance: "Karte mit den Endziffern {last4}: Guthaben {balance}.",
  announceQuote: "Diese Bestellung würde {usable} davon nutzen; noch zu zahlen: {remainder}.",
  announceApplied: "{amount} der Karte mit den Endziffern {last4} eingelöst. Noch zu zahlen: {remainder}.",
  announceRemoved: "Karte mit den Endziffern {last4} entfernt. Noch zu zahlen: {remainder}.",
  announceChanged: "Geschenkkarten: {covered}. Noch zu zahlen: {remainder}.",
  errors: {
    offline: "Keine Antwort vom Shop. Prüfen Sie Ihre Verbindung und versuchen Sie es erneut.",
    unfinished: "Diese Karte ist noch nicht eingelöst. Lösen Sie sie ein, oder leeren Sie die Felder.",
    unsettled:
      "Die Zahlung mit Ihrer Karte ist noch nicht abgeschlossen. Bitte warten Sie: Das Ergebnis erscheint hier.",
    invalid_request: "Diese Angaben sind nicht lesbar. Prüfen Sie Kartennummer und PIN.",
    invalid_card: "Kartennummer und PIN gehören nicht zusammen. Prüfen Sie beide und geben Sie die PIN erneut ein.",
    card_blocked:
      "Diese Karte ist gesperrt. Fragen Sie dort nach, wo Sie sie bekommen haben, oder nehmen Sie eine andere.",
    card_expired: "Diese Karte ist abgelaufen. Nehmen Sie eine andere Karte.",
    card_no_balance: "Auf dieser Karte ist kein Guthaben mehr. Nehmen Sie eine andere Karte.",
    card_not_active:
      "Diese Karte ist nicht aktiv. Fragen Sie dort nach, wo Sie sie bekommen haben, oder nehmen Sie eine andere.",
    card_already_applied: "Diese Karte zahlt bereits einen Teil dieser Bestellung. Nehmen Sie eine andere Karte.",
    too_many_cards:
      "Diese Bestellung nimmt keine weiteren Geschenkkarten an. Entfernen Sie zuerst eine, oder zahlen Sie den Rest auf andere Weise.",
    too_many_attempts: "Das wurde zu oft versucht.",
    nothing_to_pay: "Für diese Bestellung ist nichts mehr zu zahlen.",
    giftcard_not_payable:
      "Mit einer Geschenkkarte lässt sich keine Geschenkkarte bezahlen. Zahlen Sie diese auf andere Weise.",
    quote_expired: "Das ist zu lange her. Geben Sie die PIN erneut ein, um das Guthaben zu prüfen.",
    applied_card_not_found: "Diese Karte gehörte nicht mehr zu Ihrer Bestellung.",
    applied_card_expired:
      "Die Angaben einer Ihrer Karten liegen uns nicht mehr vor. Entfernen Sie sie und geben Sie sie erneut ein.",
    balance_changed:
      "Das Guthaben dieser Karte hat sich geändert. Geben Sie die PIN erneut ein, um das neue Guthaben zu sehen.",
    amount_changed:
      "Der Betrag Ihrer Bestellung hat sich geändert. Geben Sie die PIN erneut ein, um zu sehen, was diese Karte zahlt.",
    cart_not_found: "Wir finden Ihre Bestellung nicht mehr. Laden Sie die Seite neu.",
    cart_completed: "Diese Bestellung ist bereits aufgegeben. Von Ihrer Karte wird nichts mehr abgebucht.",
    currency_not_supported:
      "Mit Geschenkkarten kann nicht in dieser Währung bezahlt werden. Zahlen Sie auf andere Weise.",
    giftcards_not_accepted:
      "Mit Geschenkkarten lässt sich diese Bestellung nicht bezahlen. Zahlen Sie auf andere Weise.",
    payment_in_progress:
      "Eine Zahlung für diese Bestellung läuft bereits. Warten Sie einen Moment und versuchen Sie es erneut.",
    outcome_unknown:
      "Wir wissen noch nicht, ob die Zahlung geklappt hat. Was für diese Bestellung abgebucht wurde, kommt von selbst auf Ihre Karte zurück; zahlen Sie noch nicht erneut.",
    service_unavailable:
      "Geschenkkarten lassen sich gerade nicht prüfen. Versuchen Sie es erneut, oder zahlen Sie auf andere Weise.",
    insufficient_inventory: "Ausverkauft, oder es sind nicht genug übrig. Ihre Bestellung wurde nicht aufgegeben.",
    payment_authorization_error:
      "Die Zahlung wurde abgelehnt, Ihre Bestellung also nicht aufgegeben. Geld von Geschenkkarten kommt auf diese zurück. Wählen Sie eine andere Zahlungsart.",
    internal: "Bei uns ist etwas schiefgegangen. Versuchen Sie es erneut.",
  },
};
