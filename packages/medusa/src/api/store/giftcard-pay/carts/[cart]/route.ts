export { shopRoute as GET } from "../../shop-route.js";
