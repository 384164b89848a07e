import { suite } from "../../test/support/vitest.js";

// Each file boots Medusas, and waits for them much of the time: two at once keep two cores busy.
export default suite({ name: "medusa-events", include: ["test/**/*.test.ts"], isSlow: true });
