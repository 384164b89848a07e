/**
 * The files of the plugin and the service that decide about money and limits, each with the tests nearest to it. The files
 * run inside Medusa or the service, from the built package.
 * @type {Record<"medusa" | "service", Record<string, string[]>>}
 */
export const serverFiles = {
  medusa: {
    amount: ["amount"],
    "cart/cart-payment": ["cards-on-cart", "split-purchase", "acting-at-once"],
    "cart/order-lines": ["by-line", "ordinary-shop"],
    "cart/sessions": ["second-payment", "split-purchase", "completion-failures", "acting-at-once"],
    "completion/complete": ["split-purchase", "completion-failures", "acting-at-once", "recovery"],
    "completion/void": ["voided-completion"],
    "context/cart-leases": ["cart-leases"],
    "refunds/kept-units": ["ordinary-shop"],
    "refunds/order-books": ["ordinary-shop", "after-sales"],
    "refunds/order-refund": ["after-sales", "refunds-begun"],
    options: ["setup-options"],
  },
  service: {
    "store/cards": ["cards", "ending", "card-changes"],
    "store/devalue": ["cards", "idempotency", "ledger", "batches"],
    "store/idempotency": ["idempotency"],
    "store/reversals": ["reversals"],
    "limits/call-limit": ["limits"],
    "limits/company-pins": ["company-limits"],
    "limits/login-limit": ["limits"],
  },
};
