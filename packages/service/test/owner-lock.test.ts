import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { readOwner, releaseOwnership, takeOwnership } from "../src/postgres/owner-lock.js";
import { isRunning, startOf } from "../src/postgres/processes.js";

let dataDir: string;
let file: string;
beforeEach(() => {
  dataDir = fs.mkdtempSync(path.join(os.tmpdir(), "giftcard-owner-"));
  file = path.join(dataDir, "owner.json");
});
afterEach(() => {
  releaseOwnership(dataDir);
  fs.rmSync(dataDir, { recursive: true });
});

/** Changes fields of the lock file. */
function changeLock(change: object): void {
  fs.writeFileSync(file, JSON.stringify({ ...JSON.parse(fs.readFileSync(file, "utf8")), ...change }));
}

/** Makes the owner's latest heartbeat this old. */
function setHeartbeatAge(secondsAgo: number): void {
  const at = Date.now() / 1000 - secondsAgo;
  fs.utimesSync(file, at, at);
}

test("an owner in the same container is alive if it is the container's first process", () => {
  takeOwnership(dataDir, "serve");
  changeLock({ pid: 1, startedAt: startOf(1) });
  expect(isRunning(1)).toBe(true);
  expect(readOwner(dataDir)).toMatchObject({ pid: 1, role: "serve", isElsewhere: false });
  expect(takeOwnership(dataDir, "command")).toBe(false);
});

test("an owner in another container is alive while its heartbeat is recent, even if another process has its pid here", () => {
  takeOwnership(dataDir, "serve");
  changeLock({ pid: 1, startedAt: "another", namespace: "of another container" });
  setHeartbeatAge(10);
  expect(readOwner(dataDir)).toMatchObject({ isElsewhere: true });
  expect(takeOwnership(dataDir, "serve")).toBe(false);
  // The lock names another owner now, so this process must not release it.
  releaseOwnership(dataDir);
  expect(fs.existsSync(file)).toBe(true);
  setHeartbeatAge(20);
  expect(readOwner(dataDir)).toBeUndefined();
  expect(takeOwnership(dataDir, "serve")).toBe(true);
});

test("an owner renews its heartbeat regularly", async () => {
  takeOwnership(dataDir, "serve");
  setHeartbeatAge(20);
  await expect.poll(() => Date.now() - fs.statSync(file).mtimeMs).toBeLessThan(10_000);
});
