import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { inject } from "vitest";
import type { TestProject } from "vitest/node";
import { createDatabase } from "./postgres.js";
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
    sharedService: SharedService;
  }
}

interface RunningService extends SharedService {
  stop(): Promise<void>;
}

/** The service of this run. Each suite loads a copy of this module, so the service is global. */
const run = globalThis as { giftcardService?: { started: Promise<RunningService>; users: number } | undefined };

/** Starts one service per run, as vitest's `globalSetup` after `postgres-setup.ts`. It doesn't limit calls. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  run.giftcardService ??= { started: startService(project.getProvidedContext().postgresUrl), users: 0 };
  const shared = run.giftcardService;
  shared.users += 1;
  const { stop, ...service } = await shared.started;
  project.provide("sharedService", service);
  return async () => {
    shared.users -= 1;
    if (shared.users > 0) return;
    run.giftcardService = undefined;
    await stop();
  };
}

async function startService(postgresUrl: string): Promise<RunningService> {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), "giftcard-secrets-"));
  const secretsFile = path.join(folder, "secrets.json");
  const databaseUrl = await createDatabase(postgresUrl);
  const args = ["--calls-per-minute", "0"];
  const { url, pid, stop } = await startGiftcardService({ databaseUrl, environment: "sandbox", secretsFile, args });
  return {
    ...{ url, pid, databaseUrl, secretsFile },
    stop: async () => {
      await stop();
      fs.rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** Connects a test file to the shared service. */
export async function attachService(): Promise<TestService> {
  const { secretsFile, ...shared } = inject("sharedService");
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
