import { suite } from "../../test/support/vitest.js";

export default suite({
  name: "medusa",
  include: ["test/**/*.test.ts"],
  isSlow: true,
  // A worker keeps its modules between files, and so the Medusas of `sharedShop`.
  isolate: false,
});
