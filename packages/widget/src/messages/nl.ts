import type { Messages } from "./messages.js";

/** Dutch. */
export const nl: Messages = {
  title: "Cadeaukaart",
  cardNumber: "Nummer van de cadeaukaart",
  pin: "Pincode",
  showPin: "Toon pincode",
  cardNumberMissing: "Vul het kaartnummer in.",
  pinMissing: "Vul de pincode in.",
  check: "Saldo bekijken",
  checking: "Opvragen…",
  cancel: "Annuleren",
  cardEnding: "Kaart eindigend op {last4}",
  balance: "Saldo",
  usable: "Voor deze bestelling",
  remainder: "Nog te betalen",
  limit: "Hoogstens {limit} van een cadeaukaart per bestelling; {kept} blijft op de kaart.",
  limitAnother: "Je kunt nog een kaart toevoegen.",
  nothingTaken: "Er wordt niets afgeschreven tot je de bestelling plaatst.",
  validUntil: "Geldig tot en met {date}",
  apply: "{amount} gebruiken",
  applying: "Toepassen…",
  another: "Nog een kaart toevoegen",
  remove: "Verwijderen",
  removeCard: "Kaart eindigend op {last4} verwijderen",
  expired:
    "We hebben de gegevens van deze kaart niet meer, dus ze betaalt niets. Vul de kaart opnieuw in om haar te gebruiken.",
  settling: "Een eerdere betaling met deze kaart wordt teruggedraaid. Het geld komt terug op de kaart.",
  covered: "Betaald met cadeaukaart",
  nothingLeft: "Niets meer te betalen",
  maxCards:
    "Er passen geen cadeaukaarten meer bij deze bestelling (hoogstens {count}). Betaal de rest op een andere manier.",
  sandbox: "Testmodus",
  retry: "Opnieuw proberen",
  wait: "Je kunt het over {time} opnieuw proberen.",
  waitOver: "Je kunt het nu opnieuw proberen.",
  slow: "Dit duurt langer dan anders.",
  sending: "Je bestelling wordt verstuurd zodra dit klaar is.",
  changedOrder: "Je bestelling is veranderd van {before} naar {total}.",
  changedBalance: "Het saldo van de kaart eindigend op {last4} is veranderd.",
  announceBalance: "Kaart eindigend op {last4}: saldo {balance}.",
  announceQuote: "Deze bestelling gebruikt er {usable} van; nog te betalen {remainder}.",
  announceApplied: "{amount} van de kaart eindigend op {last4} toegepast. Nog te betalen: {remainder}.",
  announceRemoved: "Kaart eindigend op {last4} verwijderd. Nog te betalen: {remainder}.",
  announceChanged: "Betaald met cadeaukaart: {covered}. Nog te betalen: {remainder}.",
  errors: {
    offline: "Geen antwoord van de winkel. Controleer je verbinding en probeer het opnieuw.",
    unfinished: "Deze kaart is nog niet toegepast. Pas ze toe, of haal ze uit het formulier.",
    invalid_request: "We kunnen deze gegevens niet lezen. Controleer het kaartnummer en de pincode.",
    invalid_card:
      "Dit kaartnummer en deze pincode horen niet bij elkaar. Controleer beide en vul de pincode opnieuw in.",
    card_blocked: "Deze kaart is geblokkeerd. Vraag het na waar je ze kreeg, of gebruik een andere kaart.",
    card_expired: "De geldigheid van deze kaart is verlopen. Gebruik een andere kaart.",
    card_no_balance: "Er staat geen geld meer op deze kaart. Gebruik een andere kaart.",
    card_not_active: "Deze kaart is niet actief. Vraag het na waar je ze kreeg, of gebruik een andere kaart.",
    card_already_applied: "Deze kaart betaalt al mee aan deze bestelling. Gebruik een andere kaart.",
    too_many_cards:
      "Deze bestelling neemt geen cadeaukaarten meer aan. Verwijder er eerst een, of betaal de rest op een andere manier.",
    too_many_attempts: "Dit is te vaak geprobeerd. Voor de veiligheid moet je even wachten.",
    nothing_to_pay: "Er is voor deze bestelling niets meer te betalen.",
    giftcard_not_payable:
      "Met een cadeaukaart kun je geen cadeaukaart betalen. Betaal die op een andere manier.",
    quote_expired: "Dat is te lang geleden. Vul de pincode opnieuw in om het saldo te bekijken.",
    applied_card_not_found: "Deze kaart hoorde niet meer bij je bestelling.",
    applied_card_expired:
      "We hebben de gegevens van een van je kaarten niet meer. Verwijder die kaart en vul haar opnieuw in.",
    balance_changed:
      "Het saldo van deze kaart is veranderd. Vul de pincode opnieuw in om het nieuwe saldo te zien.",
    amount_changed:
      "Het bedrag van je bestelling is veranderd. Vul de pincode opnieuw in om te zien wat deze kaart betaalt.",
    cart_not_found: "We kunnen je bestelling niet meer vinden. Laad de pagina opnieuw.",
    cart_completed: "Deze bestelling is al geplaatst. Er wordt niets meer van je kaart afgeschreven.",
    currency_not_supported:
      "Cadeaukaarten werken alleen voor bestellingen in euro's. Betaal op een andere manier.",
    giftcards_not_accepted:
      "Deze bestelling kun je niet met een cadeaukaart betalen. Betaal op een andere manier.",
    payment_in_progress: "Er loopt al een betaling voor deze bestelling. Wacht even en probeer het opnieuw.",
    outcome_unknown:
      "We weten nog niet of de betaling gelukt is. Wat voor deze bestelling is afgeschreven, komt vanzelf terug op je kaart; betaal nog niet opnieuw.",
    service_unavailable:
      "Cadeaukaarten kunnen nu niet worden gecontroleerd. Probeer het opnieuw, of betaal op een andere manier.",
    internal: "Er ging bij ons iets mis. Probeer het opnieuw.",
  },
};
