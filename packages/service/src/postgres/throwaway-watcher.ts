/*
 * Runs beside a process that has a throw-away database. Its input is a pipe that ends when that process does; then it ends
 * the server and takes the folder away.
 */
import fs from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { readStatus } from "./server.js";

const PATIENCE_MS = 60_000;
const dataDir = process.argv[2] as string;

process.stdin.resume().once("close", async () => {
  for (const giveUpAt = Date.now() + PATIENCE_MS; fs.existsSync(dataDir) && Date.now() < giveUpAt; ) {
    // Looked up each time: a server that was starting comes later, and the number of one that is gone may be another's.
    const server = readStatus(dataDir);
    try {
      if (server) process.kill(server.pid, "SIGQUIT");
      fs.rmSync(dataDir, { recursive: true, force: true });
    } catch {
      // The server works in it for a moment more.
    }
    await sleep(50);
  }
});
