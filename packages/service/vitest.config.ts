import { suite } from "../../test/support/vitest.js";

export default suite({ name: "service", include: ["test/**/*.test.ts"], sharesService: true });
