import { fileURLToPath } from "node:url";
import { journalConformance } from "@giftcard-pay/checkout/conformance";
import { afterAll, beforeAll, describe, expect, inject, it } from "vitest";
import { createStoreDatabase, type MedusaStore, startMedusaStore } from "../../../scripts/shops/medusa-store.mjs";

const appDir = fileURLToPath(new URL("./store/", import.meta.url));
const names = journalConformance(() => {
  throw new Error("Only the names are wanted here.");
}).map(({ name }) => name);

let medusa: MedusaStore | undefined;
let results: { name: string; fault: string | null }[];
beforeAll(async () => {
  const databaseUrl = await createStoreDatabase(inject("postgresUrl"));
  // This process has no scheduled jobs: recovery would resolve charges that the cases leave open on purpose.
  medusa = await startMedusaStore({ appDir, databaseUrl, env: { MEDUSA_WORKER_MODE: "server" } });
  const answer = await fetch(`${medusa.url}/journal-conformance`, { method: "POST" });
  expect(answer.status).toBe(200);
  results = (await answer.json()) as typeof results;
});
afterAll(async () => {
  await medusa?.stop();
});

describe("the journal of Medusa's plugin, on Medusa's database, must", () => {
  it.each(names)("%s", (name) => {
    expect(results.find((result) => result.name === name)).toEqual({ name, fault: null });
  });
});
