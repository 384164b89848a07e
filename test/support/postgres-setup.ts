import type { TestProject } from "vitest/node";
import { startPostgres } from "./postgres.js";

/** vitest's `globalSetup`: one server a run; a test file takes its database with `testDatabase()`. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const server = await startPostgres();
  project.provide("postgresUrl", server.url);
  return () => server.stop();
}
