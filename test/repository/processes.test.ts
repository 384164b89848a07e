// @module-tag long

import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readdir, readFile, rmdir, writeFile } from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import pg from "pg";
import { expect, it } from "vitest";

const processes = path.resolve(import.meta.dirname, "../../scripts/lib/process.mjs");

const isRunning = (pid: number) => {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
};

it("ends the children and grandchildren of a killed process", async () => {
  const grandchild = "setInterval(() => {}, 1000)";
  const child = `
    const inner = require("node:child_process").spawn(process.execPath, ["--eval", ${JSON.stringify(grandchild)}]);
    console.log("ready", inner.pid); setInterval(() => {}, 1000);`;
  const parent = `
    import { startNode } from ${JSON.stringify(processes)};
    const { pid, match } = await startNode({ name: "it", args: ["--eval", ${JSON.stringify(child)}], cwd: ".", ready: /ready (\\d+)/ });
    console.log(pid, match[1]); setInterval(() => {}, 1000);`;
  const killed = spawn(process.execPath, ["--input-type=module", "--eval", parent], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const [line] = await once(killed.stdout, "data");
  const pids = String(line).trim().split(" ").map(Number);
  expect(pids.map(isRunning)).toEqual([true, true]);
  killed.kill("SIGKILL");
  await expect.poll(() => pids.map(isRunning)).toEqual([false, false]);
});

it("stops the throwaway database of a killed process and deletes its data", async () => {
  const parent = `
    import { startThrowawayPostgres } from "@giftcard-pay/service";
    const { url } = await startThrowawayPostgres();
    console.log(url); setInterval(() => {}, 1000);`;
  const folder = await mkdtemp(path.join(os.tmpdir(), "giftcard-processes-"));
  const killed = spawn(process.execPath, ["--input-type=module", "--eval", parent], {
    cwd: import.meta.dirname,
    stdio: ["ignore", "pipe", "inherit"],
    env: { ...process.env, TMPDIR: folder },
  });
  const [line] = await once(killed.stdout, "data");
  const connect = async () => {
    const client = new pg.Client({ connectionString: String(line).trim() });
    try {
      await client.connect();
      await client.end();
      return "answers";
    } catch (error) {
      return (error as { code?: string }).code;
    }
  };
  expect(await connect()).toBe("answers");
  killed.kill("SIGKILL");
  await expect.poll(connect).toBe("ECONNREFUSED");
  await expect.poll(() => readdir(folder)).toEqual([]);
  await rmdir(folder);
});

it("leaves no files if a process is killed while its throwaway database starts", async () => {
  const parent = `
    import { startThrowawayPostgres } from "@giftcard-pay/service";
    await startThrowawayPostgres();`;
  const folder = await mkdtemp(path.join(os.tmpdir(), "giftcard-processes-"));
  const killed = spawn(process.execPath, ["--input-type=module", "--eval", parent], {
    cwd: import.meta.dirname,
    stdio: ["ignore", "ignore", "inherit"],
    env: { ...process.env, TMPDIR: folder },
  });
  const filesMade = async () => {
    const [dataDir] = await readdir(folder);
    return dataDir === undefined ? [] : readdir(path.join(folder, dataDir));
  };
  await expect.poll(filesMade, { interval: 10 }).toContain("postgres.unfinished");
  killed.kill("SIGKILL");
  await expect.poll(() => readdir(folder)).toEqual([]);
  await rmdir(folder);
});

it("kills no other process that has reused the pid of a killed process's throwaway database", async () => {
  const parent = `
    import { startThrowawayPostgres } from "@giftcard-pay/service";
    const { url } = await startThrowawayPostgres();
    console.log(url); setInterval(() => {}, 1000);`;
  // A name that breaks in a shell unless it is quoted.
  const folder = await mkdtemp(path.join(os.tmpdir(), "giftcard 'processes' \"$HOME\" "));
  const killed = spawn(process.execPath, ["--input-type=module", "--eval", parent], {
    cwd: import.meta.dirname,
    stdio: ["ignore", "pipe", "inherit"],
    env: { ...process.env, TMPDIR: folder },
  });
  await once(killed.stdout, "data");
  const other = spawn(process.execPath, ["--eval", "setInterval(() => {}, 1000)"], { stdio: "ignore" });
  const [dataDir = ""] = await readdir(folder);
  const status = path.join(folder, dataDir, "postgres", "postmaster.pid");
  const [pid = "", ...lines] = (await readFile(status, "utf8")).split("\n");
  process.kill(Number(pid), "SIGKILL");
  await expect.poll(() => isRunning(Number(pid))).toBe(false);
  await writeFile(status, [String(other.pid), ...lines].join("\n"));
  killed.kill("SIGKILL");
  await expect.poll(() => readdir(folder)).toEqual([]);
  expect([other.exitCode, other.signalCode]).toEqual([null, null]);
  other.kill();
  await rmdir(folder);
});
