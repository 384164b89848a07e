import { suite } from "../../test/support/vitest.js";

export default suite({
  name: "vendure",
  include: ["test/**/*.test.ts"],
  isSlow: true,
  sharesService: true,
});
