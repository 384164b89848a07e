import fs from "node:fs";
import os from "node:os";

/** Returns whether a process is running. A zombie is not. */
export function isRunning(pid: number): boolean {
  // In a container, the service itself may be process 1.
  if (!(pid >= 1)) return false;
  try {
    process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
  return statOf(pid)[0] !== "Z";
}

/** Returns when a process started, if the system knows, to detect a reused process id. */
export const startOf = (pid: number): string => statOf(pid)[19] ?? "";

/** Returns the namespace of process ids: the machine and the container. */
export function processNamespace(): string {
  try {
    return `${os.hostname()} ${process.platform === "linux" ? fs.readlinkSync("/proc/self/ns/pid") : ""}`;
  } catch {
    return os.hostname();
  }
}

/** Reads Linux's fields of a process, from its state on. The name before them may contain spaces and brackets. */
function statOf(pid: number): string[] {
  try {
    const text = fs.readFileSync(`/proc/${pid}/stat`, "utf8");
    return text.slice(text.lastIndexOf(") ") + 2).split(" ");
  } catch {
    return [];
  }
}
