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

/** Changes what the lock says. */
function write(change: object): void {
  fs.writeFileSync(file, JSON.stringify({ ...JSON.parse(fs.readFileSync(file, "utf8")), ...change }));
}

/** The owner lived for the last time so long ago. */
function lastSeen(secondsAgo: number): void {
  const at = Date.now() / 1000 - secondsAgo;
  fs.utimesSync(file, at, at);
}

test("an owner that is a container's first process is there", () => {
  takeOwnership(dataDir, "serve");
  write({ pid: 1, startedAt: startOf(1) });
  expect(isRunning(1)).toBe(true);
  expect(readOwner(dataDir)).toMatchObject({ pid: 1, role: "serve", isElsewhere: false });
  expect(takeOwnership(dataDir, "command")).toBe(false);
});

test("an owner in another container, whose number is another process here, is there while it says so", () => {
  takeOwnership(dataDir, "serve");
  write({ pid: 1, startedAt: "another", namespace: "of another container" });
  lastSeen(10);
  expect(readOwner(dataDir)).toMatchObject({ isElsewhere: true });
  expect(takeOwnership(dataDir, "serve")).toBe(false);
  // Ours is not in it any more, so it isn't ours to give back.
  releaseOwnership(dataDir);
  expect(fs.existsSync(file)).toBe(true);
  lastSeen(20);
  expect(readOwner(dataDir)).toBeUndefined();
  expect(takeOwnership(dataDir, "serve")).toBe(true);
});

test("an owner says again and again that it is there", async () => {
  takeOwnership(dataDir, "serve");
  lastSeen(20);
  await expect.poll(() => Date.now() - fs.statSync(file).mtimeMs).toBeLessThan(10_000);
});
