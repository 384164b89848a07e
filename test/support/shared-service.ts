import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import type { TestProject } from "vitest/node";
import { startPostgres } from "./postgres.js";
import { commandsWith, startGiftcardService, type TestService } from "./service.js";
import { openServiceDesk } from "./service-desk.js";

/** A service that many test files use in turn, and how to connect to it. */
export interface SharedService {
  readonly url: string;
  readonly pid: number;
  readonly databaseUrl: string;
  readonly secretsFile: string;
}

declare module "vitest" {
  interface ProvidedContext {
    sharedService?: SharedService;
    /** The only kind of store to test. */
    onlyStore?: string;
  }
}

/** Starts one service for all test files, with only SQLite's store, as vitest's `globalSetup` of the mutation tests. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const server = await startPostgres();
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), "giftcard-secrets-"));
  const secretsFile = path.join(folder, "secrets.json");
  const databaseUrl = await server.createDatabase();
  const service = await startGiftcardService({ databaseUrl, environment: "sandbox", secretsFile });
  project.provide("postgresUrl", server.url);
  project.provide("onlyStore", "SQLite");
  project.provide("sharedService", { url: service.url, pid: service.pid, databaseUrl, secretsFile });
  return async () => {
    await service.stop();
    await server.stop();
    fs.rmSync(folder, { recursive: true, force: true });
  };
}

/** Connects a test file to the shared service. */
export async function attachService({ secretsFile, ...shared }: SharedService): Promise<TestService> {
  const desk = openServiceDesk({ databaseUrl: shared.databaseUrl, secretsFile });
  const env = {
    GIFTCARD_DATABASE_URL: shared.databaseUrl,
    GIFTCARD_SECRETS_FILE: secretsFile,
    GIFTCARD_REASON: "a test",
  };
  const stop = async () => {
    await desk.close();
    return 0;
  };
  return {
    ...shared,
    ...desk,
    logs: () => "",
    metrics: async () => {
      throw new Error("The shared service serves no metrics.");
    },
    stop,
    kill: async () => void (await stop()),
    command: commandsWith(env),
  };
}
