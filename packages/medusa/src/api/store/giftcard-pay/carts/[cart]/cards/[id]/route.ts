export { shopRoute as DELETE } from "../../../../shop-route.js";
