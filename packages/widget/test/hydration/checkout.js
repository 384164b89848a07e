import { createElement, useState } from "react";
import { GiftcardPay } from "../../dist/react.js";

/** A shop's checkout in React, rendered on the server and hydrated in the browser. */
export function Checkout({ cart }) {
  const [remainderCents, setRemainderCents] = useState();
  return createElement(
    "main",
    null,
    createElement(GiftcardPay, {
      endpoint: "/shop/store/giftcard-pay",
      cart,
      lang: "en",
      className: "pay",
      headers: { "x-shop": "1" },
      onTotal: ({ detail }) => setRemainderCents(detail.remainderCents),
    }),
    createElement("output", null, remainderCents),
  );
}
