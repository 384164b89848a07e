/** The plugin's options, as a merchant writes them. */
export interface GiftcardOptions {
  /** Which of the service's two installations is used. */
  environment: "live" | "sandbox";
  /** Both addresses of the service; `environment` chooses. */
  baseUrls?: { live: string; sandbox: string };
  /** The service's address, in place of `baseUrls`. */
  baseUrl?: string;
  /** Allows `http:` to a service on another machine, where the network between is your own. Default: false. */
  allowHttp?: boolean;
  /** The company's API key. Without it, `credentials` fetch one when the first call needs it. */
  apiKey?: string;
  credentials?: { email: string; password: string };
  /** The service's number for the company. */
  companyId: number | string;
  /** 32 bytes in base64 each, the newest first. Keep old ones until nothing is sealed under them. */
  sealingKeys: { id: string; key: string }[];
  /** Cards per order. Default 5. */
  maxCards?: number | string;
  /**
   * How a card is charged: by one charge, or by one for each unit of the order's lines that it pays, so that a returned
   * unit's part goes back to the card to the cent. Default: `whole`.
   */
  charges?: "whole" | "by-line";
  /** Charges of one card of one order, where it is charged by line: what is more is joined. Default: 10. */
  maxChargesPerCard?: number | string;
  /**
   * Who is paid back first where an order owes something: each line as it was paid, the cards, the other payments, or
   * both in proportion. Default: `as-paid`.
   */
  refundRule?: "as-paid" | "cards-first" | "other-first" | "in-proportion";
  /** The longest that a call to the service takes. Default: 10,000. */
  timeoutMs?: number | string;
  /** How long an applied card can be charged. Default: two hours. */
  tenderLifeMs?: number | string;
  /** How long a quote can be applied. Default: 15 minutes. */
  quoteLifeMs?: number | string;
  /** How long a completion owns its charges unless renewed; longer than its time-outs together. Default: two minutes. */
  leaseMs?: number | string;
  /** Wrong guesses of card number and PIN that are judged in one window; past them, the gift card routes answer 429. */
  guessLimits?: {
    /** Default: 15 minutes. */
    windowMs?: number | string;
    /** Default: 10. */
    perCart?: number | string;
    /** Per shopper's address on the network. Default: 20. */
    perAddress?: number | string;
    /** Past it, each cart and each address has a fifth of its guesses left. Default: 600. */
    perShop?: number | string;
  };
  /**
   * The header in which the shop's own proxy writes the shopper's address, such as `x-real-ip`, or `x-forwarded-for`,
   * of which the last entry counts. Default: none; the connection's address counts.
   */
  trustedAddressHeader?: string;
  /**
   * Lets gift cards pay for gift cards. A product is one by Medusa's `is_giftcard`, or by `giftcard: true` in its metadata.
   * Default: false; cards pay for the other lines of such a cart.
   */
  cardsBuyCards?: boolean;
  /** Lets a method that settles later pay the remainder beside gift cards. Default: false. */
  allowPendingRemainder?: boolean;
  /** How long such a remainder may take before the order is canceled and the cards are whole again. Default: 7 days. */
  pendingRemainderLifeMs?: number | string;
  /** Unpaid orders that one run of recovery cancels; past it, it stops, and a person has to let it go on. Default: 20. */
  maxCancelsPerRun?: number | string;
  /** The shop calls `completeWithGiftcards` from its own hook handler, so the plugin registers none. Default: false. */
  callsHandlerItself?: boolean;
  /** For a shop that sells tickets: tells its shows to the card's issuer, and to who fetches the feed. Default: it sells none. */
  events?: {
    /** A product's page in the storefront, with `{handle}` or `{id}`, such as `https://shop.example/products/{handle}`. */
    productUrl: string;
    /** Who organises a show whose own page names nobody. */
    organiser?: string;
    /** The IANA time zone of a show that names none. Default: `Europe/Amsterdam`. */
    timeZone?: string;
    /** The issuer's number of the ticketing provider of a show that names none. */
    providerId?: number | string;
    /** The product option whose values are a show's dates. Default: `Date`. */
    dateOption?: string;
    /** Whether a show is published when a person says so, or as soon as nothing is missing. Default: `by-hand`. */
    publish?: "by-hand" | "automatic";
  };
}
