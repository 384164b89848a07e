// @module-tag long

import { execFile } from "node:child_process";
import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, it } from "vitest";
import { checkChangesets, whyNoChangesets } from "../../scripts/check/changesets.mjs";
import { published, workspaces } from "../../scripts/packed/pack.mjs";
import { checkReady, checkTagged } from "../../scripts/release/readiness.mjs";
import { readVersion, renewVersion, staleFiles } from "../../scripts/release/version-places.mjs";

const root = path.resolve(import.meta.dirname, "../..");
const changeset = path.join(root, "node_modules/@changesets/cli/bin.js");
const run = promisify(execFile);
const copied = [
  "package.json",
  "package-lock.json",
  "README.md",
  ".changeset/config.json",
  "examples/medusa-store/package.json",
  "examples/medusa-store/storefront/package.json",
  "examples/plain-shop/package.json",
  "scripts/package.json",
  "packages/medusa/test/store/package.json",
  "packages/medusa-events/test/store/package.json",
  "packages/client/src/version.ts",
  ...published.map((name) => `packages/${name}/package.json`),
  ...published.map((name) => `packages/${name}/CHANGELOG.md`),
];
let folder: string;

/** Runs git without the developer's settings, which may sign commits or run hooks. */
const git = (...args: string[]) =>
  run("git", ["-c", "user.name=A", "-c", "user.email=a@example.com", ...args], {
    cwd: folder,
    env: { ...process.env, GIT_CONFIG_GLOBAL: os.devNull, GIT_CONFIG_NOSYSTEM: "1" },
  });

// Copies the repository's release files into a new repository: a commit on main, and a branch from it.
beforeAll(async () => {
  folder = await mkdtemp(path.join(os.tmpdir(), "giftcard-changesets-"));
  for (const file of copied) {
    await mkdir(path.dirname(path.join(folder, file)), { recursive: true });
    await cp(path.join(root, file), path.join(folder, file));
  }
  await git("init", "--initial-branch", "main");
  await commitAll("chore: release");
  await git("checkout", "-b", "work");
});

afterAll(() => rm(folder, { recursive: true, force: true }));

const commitAll = async (message: string) => {
  await git("add", "--all");
  await git("commit", "--message", message);
};
const version = () => readVersion(folder, workspaces);
const changeSource = (text: string) => writeFile(path.join(folder, "packages/client/src/a.ts"), text);

it("requires a changeset for a changed source once the version is tagged, and not before", async () => {
  await changeSource("export const a = 1;\n");
  await commitAll("feat(client): a");
  expect(await whyNoChangesets(folder, await version())).toBe(`${await version()} is not released yet`);
  await git("tag", `v${await version()}`, "main");
  expect(await whyNoChangesets(folder, await version())).toBeUndefined();
  await expect(checkChangesets(folder)).rejects.toThrow(/no changesets were found/);
  await writeFile(path.join(folder, ".changeset/a.md"), '---\n"@giftcard-pay/client": minor\n---\n\nThere is an a.\n');
  await commitAll("docs(client): a changeset");
  await expect(checkChangesets(folder)).resolves.toBeUndefined();
});

it("requires no changeset for a change outside of a package's source", async () => {
  await git("checkout", "-b", "docs", "main");
  await writeFile(path.join(folder, "packages/client/README.md"), "# The client\n");
  await commitAll("docs(client): a README");
  await expect(checkChangesets(folder)).resolves.toBeUndefined();
  await git("checkout", "work");
});

it("rejects a release while a changeset is pending", async () => {
  await expect(checkReady(folder, await version())).rejects.toThrow("Changesets wait: a.md.");
});

it("a changeset raises the version of all packages in every file, and its text is in the changelog", async () => {
  const before = await version();
  await run(process.execPath, [changeset, "version"], { cwd: folder });
  const after = await version();
  expect(after).not.toBe(before);
  expect(await renewVersion(folder, after)).toContain("packages/client/src/version.ts");
  expect(await staleFiles(folder, after)).toEqual([]);
  const log = await readFile(path.join(folder, "packages/client/CHANGELOG.md"), "utf8");
  expect(log).toMatch(new RegExp(`^# @giftcard-pay/client\n\n## ${after}\n[^#]*### Minor[^#]*There is an a\\.`));
  const texts = await Promise.all(
    copied.filter((file) => file !== "package-lock.json").map((file) => readFile(path.join(folder, file), "utf8")),
  );
  const old = texts.map((text) => text.replace(`## ${before}\n`, "").split(before).length - 1);
  expect(Object.fromEntries(copied.map((file, i) => [file, old[i]]).filter(([, count]) => count))).toEqual({});
});

it("rejects a release that isn't committed, tagged and in every changelog", async () => {
  const now = await version();
  await expect(checkReady(folder, now)).resolves.toBeUndefined();
  await expect(checkReady(folder, "9.9.9")).rejects.toThrow("packages/client/CHANGELOG.md has no entry for 9.9.9.");
  await expect(checkTagged(folder, now)).rejects.toThrow(/Commit this first.*CHANGELOG\.md/s);
  await commitAll("chore: release");
  await expect(checkTagged(folder, now)).rejects.toThrow(`isn't tagged as v${now}`);
  await git("tag", `v${now}`);
  await expect(checkTagged(folder, now)).resolves.toBeUndefined();
});
