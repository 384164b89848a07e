import { suite } from "../../test/support/vitest.js";

export default suite({ name: "client", include: ["test/**/*.test.ts"], sharesService: true });
