/** An issuer and a bank in memory, for the tests of a shop. They need no service and no database. */
export { TestBank, type TestPayment } from "./bank.js";
export { createTestIssuer, type TestFault, type TestIssuer, type TestOperation } from "./issuer.js";
export type { TestCard } from "./issuer-books.js";
