import { suite } from "../../test/support/vitest.js";

export default suite({ name: "medusa-events", include: ["test/**/*.test.ts"], isSlow: true });
