import { suite } from "../../test/support/vitest.js";

export default suite({ name: "events", include: ["test/**/*.test.ts"], sharesService: true });
