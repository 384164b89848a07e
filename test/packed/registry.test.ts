// @module-tag long
import { appendFile, mkdir, mkdtemp, rm } from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { publishHere } from "../../scripts/packed/from-registry.mjs";
import { packAs } from "../../scripts/packed/older.mjs";
import { packPackages, runNpm } from "../../scripts/packed/pack.mjs";
import { publishPackages } from "../../scripts/release/publish.mjs";

const say = () => {};
let folder: string;
let tarballs: Record<string, string>;
let here: Awaited<ReturnType<typeof publishHere>>;

// `npm run packed -- --registry` installs from the registry: an upgrade with data, npx, shops, and a Medusa store.
beforeAll(async () => {
  folder = await mkdtemp(path.join(os.tmpdir(), "giftcard-registry-"));
  tarballs = await packPackages(["checkout", "client", "events"], path.join(folder, "tarballs"));
  here = await publishHere({ tarballs, folder, say });
}, 480_000);

afterAll(async () => {
  await here?.registry.stop();
  await rm(folder, { recursive: true, force: true });
});

const publish = (packages: Record<string, string>, isDryRun = false) =>
  publishPackages({
    tarballs: packages,
    registry: here.registry.url,
    env: here.registry.publishEnv,
    isDryRun,
  });
const statesOf = (outcomes: Awaited<ReturnType<typeof publish>>) =>
  Object.fromEntries(outcomes.map(({ name, state }) => [name.replace("@giftcard-pay/", ""), state]));

it("resumes a half-published release in dependency order, and publishes nothing in a dry run", async () => {
  const next = await packAs(tarballs, "9.0.0", path.join(folder, "next"));
  const half = Object.entries(next).filter(([name]) => /client|events/.test(name));
  await publish(Object.fromEntries(half));
  const whole = {
    client: "already published",
    events: "already published",
    checkout: "published",
  };
  const dry = Object.entries(whole).map(([name, state]) => [name, state.replace(/^published/, "not published")]);
  expect(statesOf(await publish(next, true))).toEqual(Object.fromEntries(dry));
  const outcomes = await publish(next);
  expect(statesOf(outcomes)).toEqual(whole);
  expect(outcomes[0]?.name).toBe("@giftcard-pay/client");
});

it("rejects a release whose version is already published with other content", async () => {
  const client = "@giftcard-pay/client";
  const changed = path.join(folder, "changed");
  await mkdir(changed);
  const other = await packAs({ [client]: String(tarballs[client]) }, "9.9.9", changed);
  await publish(other);
  const cwd = path.join(changed, path.basename(String(tarballs[client]), ".tgz"));
  await appendFile(path.join(cwd, "README.md"), "\nChanged.\n");
  await runNpm(["pack", "--pack-destination", changed], { cwd });
  await expect(publish(other)).rejects.toThrow(/9\.9\.9 is published already, with other content/);
});
