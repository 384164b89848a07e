import { suite } from "../../test/support/vitest.js";

export default suite({ name: "checkout", include: ["test/**/*.test.ts"], sharesService: true });
