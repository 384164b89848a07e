export { shopRoute as POST } from "../../../shop-route.js";
