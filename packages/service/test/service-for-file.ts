import pg from "pg";
import { afterAll, beforeAll } from "vitest";
import { startGiftcardService, type TestService, type TestServiceOptions } from "../../../test/support/service.js";
import { attachService } from "../../../test/support/shared-service.js";
import { testDatabase } from "../../../test/support/test-database.js";

/** Connects to the service that the files of this run share, before the tests of a file. */
export const sharedServiceForFile = (): TestService => forFile(attachService, (service) => service.stop());

/** Starts a service on an empty database before the tests of a file, and stops it after them. */
export const serviceForFile = (options: Omit<TestServiceOptions, "databaseUrl"> = {}): TestService =>
  forFile(
    async () => startGiftcardService({ databaseUrl: await testDatabase(), ...options }),
    (service) => service.stop(),
  );

/** Connects to a service's database before the tests of a file, and disconnects after them. */
export const databaseForFile = (service: TestService): pg.Client =>
  forFile(
    async () => {
      const db = new pg.Client({ connectionString: service.databaseUrl });
      await db.connect();
      return db;
    },
    (db) => db.end(),
  );

/** Returns an object with the members of a value that exists only while the tests of a file run. */
function forFile<T extends object>(start: () => Promise<T>, stop: (value: T) => Promise<unknown>): T {
  let value: T | undefined;
  beforeAll(async () => {
    value = await start();
  });
  afterAll(async () => {
    if (value) await stop(value);
  });
  return new Proxy({} as T, {
    get(_target, name) {
      const member: unknown = Reflect.get(value as T, name);
      return typeof member === "function" ? member.bind(value) : member;
    },
  });
}
