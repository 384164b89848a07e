import { inject } from "vitest";
import { createDatabase } from "./postgres.js";

declare module "vitest" {
  interface ProvidedContext {
    postgresUrl: string;
  }
}

/** Creates an empty database for this test file on the server that `postgres-setup.ts` started. */
export function testDatabase(): Promise<string> {
  return createDatabase(inject("postgresUrl"));
}
