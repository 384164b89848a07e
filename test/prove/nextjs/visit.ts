import type { Browser, Locator, Page } from "playwright-core";
import { apiAt, fillCart } from "../../../scripts/demo/purchase.mjs";
import { press } from "../../../scripts/lib/press.mjs";
import type { IssuedCard } from "../../../scripts/shops/card-service.mjs";
import type { MedusaStore } from "../../../scripts/shops/medusa-store.mjs";

export interface Stage {
  readonly browser: Browser;
  readonly store: MedusaStore;
  readonly storefrontUrl: string;
  /** Prepares each page, for example with a simulated script of Stripe. */
  readonly prepare: (page: Page) => Promise<void>;
}

const PATIENCE_MS = 60_000;
const billing = {
  first_name: "Noor",
  last_name: "de Vries",
  address_1: "Keizersgracht 1",
  postal_code: "1015 CC",
  city: "Amsterdam",
  country_code: "nl",
};

/** A shopper with their own browser context, at the storefront. */
export class Visit {
  /** Errors that the pages threw or logged. */
  readonly complaints: string[] = [];
  #hasSession = false;

  private constructor(
    readonly page: Page,
    /** The cart that it fills. */
    readonly cartId: string,
    private readonly stage: Stage,
  ) {
    page.setDefaultTimeout(PATIENCE_MS);
    page.on("pageerror", (error) => void this.complaints.push(String(error)));
    page.on("console", (message) => {
      // The storefront's own failed loads are not our errors: external pictures, or a page that no longer exists.
      const isOurs = !message.text().startsWith("Failed to load resource");
      if (message.type() === "error" && isOurs) this.complaints.push(message.text());
    });
  }

  /** Opens the payment step of the checkout with a cart that is otherwise complete. */
  static async start(stage: Stage, handle: string, asCustomer = false): Promise<Visit> {
    const { browser, store, storefrontUrl } = stage;
    const token = asCustomer ? await register(store) : undefined;
    const api = apiAt(store.url, {
      "x-publishable-api-key": store.publishableKey,
      ...(token && { authorization: `Bearer ${token}` }),
    });
    const { id } = await fillCart(api, { [handle]: 1 });
    await api("POST", `/store/carts/${id}`, { billing_address: billing });
    const context = await browser.newContext({ viewport: { width: 1280, height: 1100 }, locale: "en-IE" });
    const cookie = (name: string, value: string) => ({ name, value, url: storefrontUrl });
    await context.addCookies([cookie("_medusa_cart_id", id), ...(token ? [cookie("_medusa_jwt", token)] : [])]);
    const page = await context.newPage();
    await stage.prepare(page);
    const visit = new Visit(page, id, stage);
    await page.goto(`${storefrontUrl}/nl/checkout?step=payment`, { waitUntil: "domcontentloaded" });
    await press(page.locator("summary", { hasText: "Have a gift card?" }));
    await visit.tag.getByLabel("Gift card number").waitFor();
    return visit;
  }

  get tag() {
    return this.page.locator("giftcard-pay");
  }

  /** The remainder to pay, shown next to the cart's total. */
  private get totals() {
    return this.page.getByTestId("gift-cards-totals");
  }

  async checkCard({ cardnumber, pin }: IssuedCard): Promise<void> {
    await this.tag.getByLabel("Gift card number").fill(cardnumber);
    await this.tag.getByLabel("PIN", { exact: true }).fill(pin);
    await press(this.tag.getByRole("button", { name: "Use card" }));
  }

  /** Applies a card, and waits until the page shows the new remainder. */
  async applyCard(card: IssuedCard, remainder: string): Promise<void> {
    await this.checkCard(card);
    const isCovered = remainder === "€0.00";
    await this.renewing(this.#hasSession || isCovered, async () => {
      await press(this.tag.getByRole("button", { name: "Apply" }));
      await this.shows(remainder);
    });
    this.#hasSession ||= isCovered;
  }

  /** Waits until the tag has a card, and the page shows this remainder next to the cart's total. */
  async shows(remainder: string): Promise<void> {
    await this.tag.locator("#summary").waitFor();
    await this.totals.getByText(remainder).waitFor();
  }

  async addCard(card: IssuedCard, remainder: string): Promise<void> {
    await press(this.tag.getByRole("button", { name: "Add another card" }));
    await this.applyCard(card, remainder);
  }

  /** @param changesRemainder false if the card paid nothing, so that the payment session stays */
  async removeCard(changesRemainder = true): Promise<void> {
    await this.renewing(this.#hasSession && changesRemainder, async () => {
      await press(this.tag.getByRole("button", { name: "Remove" }));
      await this.tag.locator("#summary").waitFor({ state: "detached" });
      await this.totals.waitFor({ state: "detached" });
    });
  }

  /** Runs `act`. If the payment session has to be renewed, also waits until the page has the new one. */
  private async renewing(isRenewed: boolean, act: () => Promise<void>): Promise<void> {
    // Polls in each frame, because the page may be busy for only a tenth of a second.
    const isBusy = (busy: boolean) =>
      this.page.waitForFunction(
        `document.querySelector('[data-testid="gift-cards"]')?.getAttribute("aria-busy") === "${busy}"`,
      );
    const begun = isRenewed ? isBusy(true) : undefined;
    await act();
    await begun;
    await isBusy(false);
  }

  /** Chooses a payment method by its title. */
  choose(title: string): Promise<void> {
    return press(this.page.getByRole("radio", { name: title }), " ");
  }

  /** Returns the payment methods that the page shows as chosen, and whether the shopper may continue. */
  async chosen(): Promise<{ titles: string[]; mayGoOn: boolean }> {
    const texts = await this.page.getByRole("radio", { checked: true }).allInnerTexts();
    const mayGoOn = await this.page.getByTestId("submit-payment-button").isEnabled();
    // The storefront's other radio buttons, such as those for delivery, contain no text.
    return { titles: texts.map((text) => text.trim().split("\n")[0] ?? "").filter(Boolean), mayGoOn };
  }

  async payByStripe(title: string, number: string): Promise<void> {
    await this.choose(title);
    await this.typeNumber(number);
    this.#hasSession = true;
  }

  typeNumber(number: string): Promise<void> {
    return this.page.getByLabel("Credit or debit card number").fill(number);
  }

  async toReview(): Promise<void> {
    await press(this.page.getByTestId("submit-payment-button"));
    await this.page.getByTestId("submit-order-button").waitFor();
    this.#hasSession = true;
  }

  /** Places the order. @returns each payment that the confirmation shows */
  async placeOrder(): Promise<string[]> {
    await press(this.page.getByTestId("submit-order-button"));
    return this.confirmed();
  }

  /** Presses "Place order", and waits for the reason why no order was placed. @returns its text */
  async placeOrderInVain(): Promise<string> {
    const reason = this.page.getByTestId(/^(manual|stripe)-payment-error-message$/);
    await press(this.page.getByTestId("submit-order-button"));
    await reason.waitFor();
    return (await reason.textContent())?.trim() ?? "";
  }

  /** The text in place of "Place order" while a payment with a card is not finished. */
  get waiting() {
    return this.page.getByTestId("gift-cards-wait");
  }

  /** Presses "Place order", after which the page waits for the outcome of a card's payment. */
  async placeOrderAndWait(): Promise<void> {
    await press(this.page.getByTestId("submit-order-button"));
    await this.waiting.waitFor();
    await this.page.getByTestId("submit-order-button").waitFor({ state: "detached" });
  }

  /** Returns the texts below the applied cards, without what stays on a card and its expiry. */
  async cardNotes(): Promise<string[]> {
    const notes = await this.tag.locator("[part=card] p").allTextContents();
    return notes.map((text) => text.trim()).filter((text) => text && !text.includes("Valid until"));
  }

  /** Waits for the confirmation. @returns each payment that it shows */
  async confirmed(): Promise<string[]> {
    await this.page.waitForURL(/\/confirmed/);
    return this.paymentsShown();
  }

  async paymentsShown(within: Page | Locator = this.page): Promise<string[]> {
    const parts = within.getByTestId("order-payments").locator("li");
    await parts.first().waitFor();
    return (await parts.allInnerTexts()).map((text) => text.replace(/\s+/g, " "));
  }

  async openOrderPage(): Promise<string[]> {
    const orderId = /order_\w+/.exec(this.page.url())?.[0];
    await this.page.goto(`${this.stage.storefrontUrl}/nl/account/orders/details/${orderId}`);
    return this.paymentsShown(this.page.getByTestId("order-details-container"));
  }

  end(): Promise<void> {
    return this.page.context().close();
  }
}

/** Registers a new customer and logs them in. @returns their token */
async function register(store: MedusaStore): Promise<string> {
  const email = `noor.${crypto.randomUUID()}@example.com`;
  const login = { email, password: "a long password" };
  const at = (token?: string) =>
    apiAt(store.url, {
      "x-publishable-api-key": store.publishableKey,
      ...(token && { authorization: `Bearer ${token}` }),
    });
  const { token } = await at()("POST", "/auth/customer/emailpass/register", login);
  await at(token)("POST", "/store/customers", { email, first_name: "Noor", last_name: "de Vries" });
  return (await at()("POST", "/auth/customer/emailpass", login)).token;
}
