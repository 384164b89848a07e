import { suite, support } from "../../test/support/vitest.js";

// The browser tests run with @web/test-runner.
export default suite({
  name: "widget",
  include: ["test/**/*.test.ts"],
  globalSetup: [support("build-setup.ts")],
});
