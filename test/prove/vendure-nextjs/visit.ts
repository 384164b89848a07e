import type { Browser, Page } from "playwright-core";
import { press } from "../../../scripts/lib/press.mjs";
import type { IssuedCard } from "../../../scripts/shops/card-service.mjs";
import { openShopper } from "../../../scripts/shops/vendure-shopper.mjs";

export interface Stage {
  readonly browser: Browser;
  readonly shopUrl: string;
  readonly storefrontUrl: string;
}

const PATIENCE_MS = 60_000;

/** A shopper with their own browser context, who uses the keyboard only. */
export class Visit {
  /** Errors that the pages threw. */
  readonly complaints: string[] = [];

  private constructor(
    readonly page: Page,
    private readonly stage: Stage,
  ) {
    page.setDefaultTimeout(PATIENCE_MS);
    page.on("pageerror", (error) => void this.complaints.push(String(error)));
  }

  private static async open(stage: Stage, token?: string): Promise<Visit> {
    const context = await stage.browser.newContext({ viewport: { width: 1280, height: 1000 }, locale: "en-IE" });
    if (token)
      await context.addCookies([
        { name: "vendure-auth-token", value: token, url: stage.storefrontUrl, httpOnly: true },
      ]);
    return new Visit(await context.newPage(), stage);
  }

  /** Opens the payment step with an order of 74.98 that is otherwise complete. */
  static async start(stage: Stage): Promise<Visit> {
    const shopper = openShopper(stage.shopUrl);
    await shopper.order();
    await shopper.moveTo("AddingItems");
    const visit = await Visit.open(stage, shopper.bearer());
    await visit.goToCheckout();
    await visit.number.waitFor();
    return visit;
  }

  /** Buys a ticket of 37.49, and fills in all steps of the checkout. */
  static async startAtProduct(stage: Stage): Promise<Visit> {
    const visit = await Visit.open(stage);
    const { page } = visit;
    await page.goto(`${stage.storefrontUrl}/product/ticket`);
    await press(visit.button("Add to Cart"));
    await visit.button("Added to Cart").waitFor();
    await visit.goToCheckout();
    await page.getByLabel("Email Address").fill("noor@example.com");
    await page.getByLabel("First Name").fill("Noor");
    await page.getByLabel("Last Name").fill("de Vries");
    await press(visit.button("Continue"));
    await page.getByLabel("Full Name").fill("Noor de Vries");
    await page.getByLabel("Street Address").fill("Keizersgracht 1");
    await page.getByLabel("City").fill("Amsterdam");
    await page.getByLabel("State/Province").fill("NH");
    await page.getByLabel("Postal Code").fill("1015 CC");
    await page.getByLabel("Phone").fill("0201234567");
    await press(visit.button("Continue"));
    await press(visit.button("Continue to payment"));
    await visit.number.waitFor();
    return visit;
  }

  get tag() {
    return this.page.locator("giftcard-pay");
  }

  private get number() {
    return this.tag.getByLabel("Gift card number");
  }

  private button(name: string) {
    return this.page.getByRole("button", { name, exact: true });
  }

  async goToCheckout(): Promise<void> {
    await this.page.goto(`${this.stage.storefrontUrl}/checkout`);
    await this.page.getByRole("heading", { name: "Checkout" }).waitFor();
  }

  /** Adds one more of the first product in the cart. */
  async addOneMore(): Promise<void> {
    await this.page.goto(`${this.stage.storefrontUrl}/cart`);
    const more = this.page.locator("form button[type=submit]").filter({ has: this.page.locator(".lucide-plus") });
    await press(more.first());
    await this.page.getByText("€74.98").filter({ visible: true }).first().waitFor();
  }

  async checkCard({ cardnumber, pin }: IssuedCard): Promise<void> {
    await this.number.focus();
    await this.page.keyboard.type(cardnumber);
    await this.tag.getByLabel("PIN", { exact: true }).focus();
    await this.page.keyboard.type(pin);
    await press(this.tag.getByRole("button", { name: "Check balance" }));
  }

  /** Applies a card, and waits until the page shows this remainder next to the order's total. */
  async applyCard(card: IssuedCard, remainder: string): Promise<void> {
    const add = this.tag.getByRole("button", { name: "Add another card" });
    await this.number.or(add).filter({ visible: true }).first().waitFor();
    if (await add.isVisible()) await press(add);
    await this.checkCard(card);
    await press(this.tag.getByRole("button", { name: "Apply" }));
    await this.shows(remainder);
  }

  async removeCard(): Promise<void> {
    await press(this.tag.getByRole("button", { name: "Remove" }));
    await this.page.getByTestId("gift-cards").waitFor({ state: "detached" });
  }

  shows(remainder: string): Promise<void> {
    return this.page.getByTestId("gift-cards").getByText(remainder, { exact: true }).waitFor();
  }

  /** Returns the payment methods that the shopper can choose. */
  methods(): Promise<string[]> {
    return this.page.getByRole("radio").evaluateAll((radios: { id: string }[]) => radios.map(({ id }) => id));
  }

  async toReview(): Promise<void> {
    await press(this.button("Continue to review"));
    await this.button("Place Order").waitFor();
  }

  /** Places the order, again if the page asks to wait and try again. @returns each payment that the confirmation shows */
  async placeOrder(): Promise<string[]> {
    const [confirmed, later] = [
      this.page.getByText("Order Confirmed!"),
      this.page.getByText("Wait a moment and try again."),
    ];
    do {
      await press(this.button("Place Order"));
      await later.waitFor({ state: "hidden" });
      await confirmed.or(later).first().waitFor();
    } while (await later.isVisible());
    await this.page.waitForURL(/\/order-confirmation\//);
    const parts = this.page.getByTestId("payments").locator("li");
    return (await parts.allInnerTexts()).map((text) => text.replace(/\s+/g, " "));
  }

  /** Presses "Place Order", and waits for the reason why no order was placed. @returns its text */
  async placeOrderInVain(): Promise<string> {
    const reason = this.page.getByRole("alert").filter({ hasText: "Your order wasn't placed." });
    await press(this.button("Place Order"));
    await reason.waitFor();
    await this.button("Place Order").and(this.page.locator(":enabled")).waitFor();
    return (await reason.textContent()) ?? "";
  }

  toPayment(): Promise<void> {
    return press(this.page.getByRole("button", { name: "Payment Method" }));
  }

  end(): Promise<void> {
    return this.page.context().close();
  }
}
