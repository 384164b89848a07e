import { suite } from "../../test/support/vitest.js";

// What runs in a page is @web/test-runner's.
export default suite({ name: "widget", include: ["test/**/*.test.ts"], globalSetup: [] });
