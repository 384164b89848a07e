/*
 * Runs beside a process with a throwaway database. Its standard input is a pipe that closes when that process ends. Then it
 * stops the server and deletes the folder.
 */
import fs from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { readStatus } from "./server.js";

const PATIENCE_MS = 60_000;
const dataDir = process.argv[2] as string;

process.stdin.resume().once("close", async () => {
  for (const giveUpAt = Date.now() + PATIENCE_MS; fs.existsSync(dataDir) && Date.now() < giveUpAt; ) {
    // Read each time: a starting server appears later, and the process id of an ended one may be reused.
    const server = readStatus(dataDir);
    try {
      if (server) process.kill(server.pid, "SIGQUIT");
      fs.rmSync(dataDir, { recursive: true, force: true });
    } catch {
      // The server still uses the folder: retry.
    }
    await sleep(50);
  }
});
