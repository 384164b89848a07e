import { createElement } from "react";
import { hydrateRoot } from "react-dom/client";
import { Checkout } from "./checkout.js";

const root = document.querySelector("#root");
hydrateRoot(root, createElement(Checkout, { cart: root.dataset.cart }));
