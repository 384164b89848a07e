import { suite } from "./support/vitest.js";

export default suite({ name: "whole", root: import.meta.dirname, include: ["**/*.test.ts"], isSlow: true });
