import type { Messages } from "./messages.js";

/** French. */
export const fr: Messages = {
  title: "Carte cadeau",
  cardNumber: "Numéro de la carte cadeau",
  pin: "Code PIN",
  showPin: "Afficher le code PIN",
  cardNumberMissing: "Saisissez le numéro de la carte.",
  pinMissing: "Saisissez le code PIN.",
  check: "Vérifier le solde",
  use: "Utiliser la carte",
  cancel: "Annuler",
  cardEnding: "Carte se terminant par {last4}",
  balance: "Solde",
  remainder: "Reste à payer",
  limit: "Une carte cadeau règle au maximum {limit} par commande.",
  kept: "{kept} restent sur la carte",
  nothingTaken: "Rien n’est débité avant la commande.",
  validUntil: "Valable jusqu’au {date}",
  apply: "Utiliser {amount}",
  another: "Ajouter une autre carte",
  remove: "Retirer",
  removeCard: "Retirer la carte se terminant par {last4}",
  expired:
    "Nous n’avons plus les données de cette carte, elle ne paie donc rien. Saisissez-la à nouveau pour l’utiliser.",
  settling:
    "Un paiement avec cette carte n’est pas encore terminé. Cela peut prendre quelques minutes. S’il n’aboutit pas, l’argent revient sur la carte.",
  notPlaced: "Votre commande n’a pas été passée.",
  covered: "Cartes cadeaux",
  nothingLeft: "Plus rien à payer",
  maxCards: "Cette commande n’accepte pas d’autre carte cadeau (au plus {count}). Payez le reste d’une autre manière.",
  sandbox: "Mode test",
  retry: "Réessayer",
  without: "Payer {amount} sans la carte",
  wait: "Vous pourrez réessayer {time}.",
  waitOver: "Vous pouvez réessayer maintenant.",
  slow: "Cela prend plus de temps que d’habitude.",
  changedOrder: "Votre commande est passée de {before} à {total}.",
  changedBalance: "Le solde de la carte se terminant par {last4} a changé.",
  announceBalance: "Carte se terminant par {last4} : solde {balance}.",
  announceQuote: "Cette commande en utiliserait {usable} ; reste à payer {remainder}.",
  announceApplied: "{amount} de la carte se terminant par {last4} utilisés. Reste à payer : {remainder}.",
  announceRemoved: "Carte se terminant par {last4} retirée. Reste à payer : {remainder}.",
  announceChanged: "Cartes cadeaux : {covered}. Reste à payer : {remainder}.",
  errors: {
    offline: "Pas de réponse de la boutique. Vérifiez votre connexion et réessayez.",
    unfinished: "Cette carte n’est pas encore appliquée. Utilisez-la, ou videz les champs.",
    unsettled:
      "Le paiement avec votre carte n’est pas encore terminé. Veuillez patienter : le résultat s’affichera ici.",
    invalid_request: "Ces données sont illisibles. Vérifiez le numéro de carte et le code PIN.",
    invalid_card:
      "Ce numéro et ce code PIN ne vont pas ensemble. Vérifiez les deux et saisissez à nouveau le code PIN.",
    card_blocked: "Cette carte est bloquée. Renseignez-vous là où vous l’avez reçue, ou prenez une autre carte.",
    card_expired: "Cette carte n’est plus valable. Prenez une autre carte.",
    card_no_balance: "Il n’y a plus d’argent sur cette carte. Prenez une autre carte.",
    card_not_active:
      "Cette carte n’est pas active. Renseignez-vous là où vous l’avez reçue, ou prenez une autre carte.",
    card_already_applied: "Cette carte paie déjà une partie de cette commande. Prenez une autre carte.",
    too_many_cards:
      "Cette commande n’accepte plus de carte cadeau. Retirez-en une d’abord, ou payez le reste d’une autre manière.",
    too_many_attempts: "Trop d’essais.",
    nothing_to_pay: "Il n’y a plus rien à payer pour cette commande.",
    giftcard_not_payable: "Une carte cadeau ne peut pas payer une carte cadeau. Payez celle-ci d’une autre manière.",
    quote_expired: "C’était il y a trop longtemps. Saisissez à nouveau le code PIN pour vérifier le solde.",
    applied_card_not_found: "Cette carte ne faisait plus partie de votre commande.",
    applied_card_expired: "Nous n’avons plus les données d’une de vos cartes. Retirez-la et saisissez-la à nouveau.",
    balance_changed: "Le solde de cette carte a changé. Saisissez à nouveau le code PIN pour voir le nouveau solde.",
    amount_changed:
      "Le montant de votre commande a changé. Saisissez à nouveau le code PIN pour voir ce que paie cette carte.",
    cart_not_found: "Nous ne trouvons plus votre commande. Rechargez la page.",
    cart_completed: "Cette commande est déjà passée. Plus rien n’est débité de votre carte.",
    currency_not_supported:
      "Les cartes cadeaux ne permettent pas de payer dans cette devise. Payez d’une autre manière.",
    giftcards_not_accepted: "Cette commande ne peut pas être payée par carte cadeau. Payez d’une autre manière.",
    payment_in_progress: "Un paiement de cette commande est en cours. Attendez un moment et réessayez.",
    outcome_unknown:
      "Nous ne savons pas encore si le paiement a abouti. Ce qui a été débité pour cette commande revient de lui-même sur votre carte ; ne payez pas encore une seconde fois.",
    service_unavailable:
      "Les cartes cadeaux ne peuvent pas être vérifiées pour le moment. Réessayez, ou payez d’une autre manière.",
    insufficient_inventory: "Épuisé, ou il n’en reste pas assez. Votre commande n’a pas été passée.",
    payment_authorization_error:
      "Le paiement a été refusé, votre commande n’a donc pas été passée. L’argent des cartes cadeaux y revient. Choisissez un autre moyen de paiement.",
    internal: "Un problème est survenu chez nous. Réessayez.",
  },
};
