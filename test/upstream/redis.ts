import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import os from "node:os";
import { freePort } from "../../scripts/lib/process.mjs";

const STARTS_WITHIN_MS = 10_000;

/** Starts an installed Redis or Valkey without a data file. @returns undefined if none is installed */
export async function startRedis(): Promise<{ url: string; stop(): Promise<void> } | undefined> {
  const program = ["redis-server", "valkey-server"].find(isInstalled);
  if (!program) return undefined;
  const port = await freePort();
  const args = ["--bind", "127.0.0.1", "--port", String(port), "--save", "", "--appendonly", "no"];
  const child = spawn(program, args, { cwd: os.tmpdir(), stdio: ["ignore", "pipe", "inherit"] });
  const exited = once(child, "close");
  const endNow = () => void child.kill("SIGKILL");
  process.once("exit", endNow);
  const stop = async () => {
    child.kill("SIGTERM");
    await exited;
    process.removeListener("exit", endNow);
  };
  let output = "";
  const ready = new Promise<void>((resolve, reject) => {
    child.stdout.on("data", (chunk) => {
      output += chunk;
      if (output.includes("Ready to accept connections")) resolve();
    });
    const fail = () => reject(new Error(`${program} did not start:\n${output}`));
    exited.then(fail, fail);
    setTimeout(fail, STARTS_WITHIN_MS).unref();
  });
  try {
    await ready;
  } catch (error) {
    await stop();
    throw error;
  }
  return { url: `redis://127.0.0.1:${port}`, stop };
}

function isInstalled(program: string): boolean {
  try {
    execFileSync(program, ["--version"], { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
}
