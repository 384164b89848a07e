import { spawn } from "node:child_process";
import net from "node:net";

/**
 * A process that this one started.
 * @typedef {object} StartedProcess
 * @property {number} pid
 * @property {() => string} logs everything that it has written so far, both streams
 * @property {() => Promise<number | null>} stop asks it to end (SIGTERM), insists after ten seconds; its exit code
 * @property {() => Promise<number | null>} kill ends it at once (SIGKILL), as a power failure would
 * @property {Promise<number | null>} exited resolves with the exit code; null when a signal ended it
 */

const INSIST_AFTER_MS = 10_000;

/**
 * Starts Node with a script and waits for a line on its output that says it is ready.
 * It leads a process group of its own, so that Ctrl-C reaches it only through us, in our order.
 *
 * @param {object} options
 * @param {string} options.name for error messages
 * @param {string[]} options.args the script and its arguments
 * @param {string} options.cwd
 * @param {Record<string, string | undefined>} options.env added to this process's own
 * @param {RegExp} options.ready
 * @param {number} [options.timeoutMs]
 * @param {AbortSignal} [options.signal] ends the start early
 * @returns {Promise<StartedProcess & { match: RegExpMatchArray }>}
 * @throws when it ends or the time is up before it is ready; nothing is left running
 */
export async function startNode({ name, args, cwd, env, ready, timeoutMs = 60_000, signal }) {
  const child = spawn(process.execPath, args, {
    cwd,
    env: { ...process.env, ...env },
    stdio: ["ignore", "pipe", "pipe"],
    detached: process.platform !== "win32",
  });
  let output = "";
  const exited = new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("close", (code) => resolve(code));
  });
  exited.catch(() => {});
  const end = (/** @type {NodeJS.Signals} */ how) => {
    if (child.exitCode === null && child.signalCode === null) child.kill(how);
    return exited;
  };
  const onParentExit = () => void end("SIGKILL");
  process.once("exit", onParentExit);
  exited.finally(() => process.removeListener("exit", onParentExit)).catch(() => {});
  const stop = () => {
    const insist = setTimeout(() => void end("SIGKILL"), INSIST_AFTER_MS);
    return end("SIGTERM").finally(() => clearTimeout(insist));
  };
  const match = new Promise((resolve, reject) => {
    const look = (/** @type {Buffer} */ chunk) => {
      output += chunk;
      const found = output.match(ready);
      if (found) resolve(found);
    };
    child.stdout.on("data", look);
    child.stderr.on("data", look);
    const fail = (/** @type {string} */ why) => reject(new Error(`${name} ${why}\n${output.slice(-4000)}`));
    exited.then((code) => fail(`ended (${code}) before it was ready:`), reject);
    setTimeout(() => fail(`was not ready after ${timeoutMs / 1000} s:`), timeoutMs).unref();
    signal?.addEventListener("abort", () => fail("was stopped while it started."), { once: true });
    if (signal?.aborted) fail("was stopped while it started.");
  });
  try {
    return {
      pid: child.pid ?? 0,
      logs: () => output,
      stop,
      kill: () => end("SIGKILL"),
      exited,
      match: await match,
    };
  } catch (error) {
    await end("SIGKILL").catch(() => {});
    throw error;
  }
}

/**
 * Runs Node with a script to its end.
 * @param {{ name: string, args: string[], cwd: string, env?: Record<string, string | undefined>, signal?: AbortSignal }} options
 * @returns {Promise<string>} what it wrote on stdout
 * @throws with its last output when it fails
 */
export function runNode({ name, args, cwd, env, signal }) {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, args, {
      cwd,
      env: { ...process.env, ...env },
      stdio: ["ignore", "pipe", "pipe"],
      detached: process.platform !== "win32",
      ...(signal && { signal }),
    });
    let stdout = "";
    let stderr = "";
    child.stdout.on("data", (chunk) => (stdout += chunk));
    child.stderr.on("data", (chunk) => (stderr += chunk));
    child.once("error", reject);
    child.once("close", (code) => {
      if (code === 0) resolve(stdout);
      else reject(new Error(`${name} failed (${code}):\n${(stdout + stderr).slice(-4000)}`));
    });
  });
}

/** A port that is free on 127.0.0.1 right now. @returns {Promise<number>} */
export function freePort() {
  return new Promise((resolve, reject) => {
    const server = net.createServer();
    server.once("error", reject);
    server.listen(0, "127.0.0.1", () => {
      const { port } = /** @type {net.AddressInfo} */ (server.address());
      server.close(() => resolve(port));
    });
  });
}
