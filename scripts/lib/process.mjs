import { spawn } from "node:child_process";
import { randomInt } from "node:crypto";
import net from "node:net";
import { readCpuSeconds, recordTime } from "./process/times.mjs";

/**
 * A process that this one started.
 * @typedef {object} StartedProcess
 * @property {number} pid
 * @property {() => string} logs its output so far, of both streams
 * @property {() => Promise<number | null>} stop sends SIGTERM, and SIGKILL after ten seconds; returns the exit code
 * @property {() => Promise<number | null>} kill ends it immediately (SIGKILL), as a power failure would
 * @property {Promise<number | null>} exited resolves with the exit code; null if a signal ended it
 */

/**
 * @typedef {object} Program
 * @property {string} name for error messages
 * @property {string[]} args the script and its arguments
 * @property {string} cwd
 * @property {Record<string, string | undefined>} [env] added to this process's own
 * @property {string} [node] another Node than the one that runs this
 * @property {AbortSignal} [signal] ends it before it is done or, where we wait for that, ready
 */

/** @typedef {import("node:child_process").ChildProcessByStdio<null, Readable, Readable>} WithOutput */
/** @typedef {import("node:stream").Readable} Readable */

const END_WITH_PARENT = new URL("process/end-with-parent.mjs", import.meta.url).href;
const KILL_AFTER_MS = 10_000;

/**
 * Starts Node with a script and waits for a line on its output that says it is ready.
 *
 * @param {Program & { ready: RegExp, timeoutMs?: number }} program
 * @returns {Promise<StartedProcess & { match: RegExpMatchArray }>}
 * @throws if it ends or times out before it is ready; nothing is left running
 */
export async function startNode({ ready, timeoutMs = 240_000, ...program }) {
  const startedAt = performance.now();
  const { child, exited, end, ignoreSignal } = spawnNode(program);
  let output = "";
  let isReady = false;
  const match = new Promise((resolve, reject) => {
    const look = (/** @type {Buffer} */ chunk) => {
      output += chunk;
      if (isReady) return;
      const found = output.match(ready);
      if (!found) return;
      isReady = true;
      resolve(found);
    };
    child.stdout.on("data", look);
    child.stderr.on("data", look);
    const fail = (/** @type {string} */ why) => reject(new Error(`${program.name} ${why}\n${output.slice(-4000)}`));
    exited.then((code) => fail(`ended (${code ?? "by a signal"}) before it was ready:`), reject);
    setTimeout(() => fail(`was not ready after ${timeoutMs / 1000} s:`), timeoutMs).unref();
  });
  const stop = () => {
    const killing = setTimeout(() => void end("SIGKILL"), KILL_AFTER_MS);
    return end("SIGTERM").finally(() => clearTimeout(killing));
  };
  try {
    const found = await match;
    program.signal?.throwIfAborted();
    ignoreSignal();
    recordTime({ process: program.name, ms: performance.now() - startedAt });
    return {
      pid: child.pid ?? 0,
      logs: () => output,
      stop,
      kill: () => end("SIGKILL"),
      exited,
      match: found,
    };
  } catch (error) {
    await end("SIGKILL").catch(() => {});
    throw error;
  }
}

/**
 * Runs Node with a script to its end.
 * @param {Program & { onOutput?: (text: string) => void }} program `onOutput` gets what it writes, as it comes
 * @returns {Promise<string>} what it wrote on stdout
 * @throws with its last output if it fails
 */
export async function runNode({ onOutput = () => {}, ...program }) {
  const startedAt = performance.now();
  const { child, exited } = spawnNode(program);
  let stdout = "";
  let stderr = "";
  child.stdout.on("data", (chunk) => (stdout += chunk));
  child.stderr.on("data", (chunk) => (stderr += chunk));
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk) => onOutput(String(chunk)));
  const code = await exited;
  recordTime({ process: program.name, ms: performance.now() - startedAt });
  program.signal?.throwIfAborted();
  if (code === 0) return stdout;
  throw new Error(`${program.name} failed (${code}):\n${(stdout + stderr).slice(-4000)}`);
}

/** The running processes, and functions that end them when this process exits. @type {Map<WithOutput, () => void>} */
const living = new Map();
const endAll = () => {
  for (const endNow of living.values()) endNow();
};

/** Returns the processor time that the running processes have used, in seconds. */
export const readRunningCpuSeconds = () =>
  [...living.keys()].reduce((sum, { pid }) => sum + ((pid && readCpuSeconds(pid)) || 0), 0);

/**
 * Starts Node as the leader of its own process group. Ctrl-C reaches the process only through us, in our order. The
 * processes that it starts end with it. If this process is killed, the group ends too.
 * @param {Program} program
 */
function spawnNode({ args, cwd, env, signal, node = process.execPath }) {
  const isGroup = process.platform !== "win32";
  const child = /** @type {WithOutput} */ (
    spawn(node, ["--import", END_WITH_PARENT, ...args], {
      cwd,
      // The service needs no grace period on stop: no proxy in front of it has to notice.
      env: { GIFTCARD_STOP_GRACE: "0", ...process.env, ...env, GIFTCARD_PARENT_PID: String(process.pid) },
      stdio: ["ignore", "pipe", "pipe", "pipe"],
      detached: isGroup,
    })
  );
  const lifeline = /** @type {net.Socket} */ (child.stdio[3]);
  lifeline.unref();
  lifeline.on("error", () => {});
  /** @type {Promise<number | null>} */
  const exited = new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("close", resolve);
  });
  let isOver = false;
  const end = (/** @type {NodeJS.Signals} */ how) => {
    if (isOver) return exited;
    // Signal the group even if its leader has ended: an orphaned child would hold the output open.
    if (child.pid && isGroup) sendToGroup(child.pid, how);
    else child.kill(how);
    return exited;
  };
  const endNow = () => void end("SIGKILL").catch(() => {});
  if (living.size === 0) process.once("exit", endAll);
  living.set(child, endNow);
  if (signal?.aborted) endNow();
  signal?.addEventListener("abort", endNow, { once: true });
  const ignoreSignal = () => signal?.removeEventListener("abort", endNow);
  const settle = () => {
    isOver = true;
    living.delete(child);
    if (living.size === 0) process.off("exit", endAll);
    ignoreSignal();
  };
  exited.then(settle, settle);
  return { child, exited, end, ignoreSignal };
}

/** @param {number} pid @param {NodeJS.Signals} how */
function sendToGroup(pid, how) {
  try {
    process.kill(-pid, how);
  } catch (error) {
    if (/** @type {NodeJS.ErrnoException} */ (error).code !== "ESRCH") throw error;
  }
}

/**
 * Finds a free port on 127.0.0.1 for a server that starts later. It is below the ports that systems assign to outgoing
 * connections (from 32768 on Linux): any connection could take one of those before the server listens.
 * @returns {Promise<number>}
 */
export async function freePort() {
  for (;;) {
    const port = randomInt(20_000, 32_000);
    const server = net.createServer();
    const isFree = await new Promise((resolve, reject) => {
      server.once("error", (/** @type {NodeJS.ErrnoException} */ error) =>
        error.code === "EADDRINUSE" ? resolve(false) : reject(error),
      );
      server.listen(port, "127.0.0.1", () => server.close(() => resolve(true)));
    });
    if (isFree) return port;
  }
}
