/** The plugin's options, as a merchant writes them. */
export interface GiftcardOptions {
  /** Which of the service's two installations is used. */
  environment: "live" | "sandbox";
  /** Both addresses of the service; `environment` chooses. */
  baseUrls?: { live: string; sandbox: string };
  /** The service's address, in place of `baseUrls`. */
  baseUrl?: string;
  /** The company's API key. Without it, `credentials` fetch one when the first call needs it. */
  apiKey?: string;
  credentials?: { email: string; password: string };
  /** The service's number for the company. */
  companyId: number | string;
  /** 32 bytes in base64 each, the newest first. Keep old ones until nothing is sealed under them. */
  sealingKeys: { id: string; key: string }[];
  /** Cards per order. Default 5. */
  maxCards?: number | string;
  /** The longest that a call to the service takes. Default: 10,000. */
  timeoutMs?: number | string;
  /** How long an applied card can be charged. Default: two hours. */
  tenderLifeMs?: number | string;
  /** How long a quote can be applied. Default: 15 minutes. */
  quoteLifeMs?: number | string;
  /** How long a completion owns its charges unless renewed; longer than its time-outs together. Default: two minutes. */
  leaseMs?: number | string;
  /** The shop calls `completeWithGiftcards` from its own hook handler, so the plugin registers none. Default: false. */
  callsHandlerItself?: boolean;
}
