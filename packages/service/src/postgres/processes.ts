import fs from "node:fs";
import os from "node:os";

/** True when the process runs. One that has ended and that nobody has asked after yet does not. */
export function isRunning(pid: number): boolean {
  // In a container, 1 is the service itself.
  if (!(pid >= 1)) return false;
  try {
    process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
  return statOf(pid)[0] !== "Z";
}

/** When a process started, where the system tells, so that a number used again is not taken for it. */
export const startOf = (pid: number): string => statOf(pid)[19] ?? "";

/** Within what a process's number is one process's alone: this machine, and on it the container. */
export function processNamespace(): string {
  try {
    return `${os.hostname()} ${process.platform === "linux" ? fs.readlinkSync("/proc/self/ns/pid") : ""}`;
  } catch {
    return os.hostname();
  }
}

/** Linux's fields on a process, from its state on; the name before them may hold spaces and brackets. */
function statOf(pid: number): string[] {
  try {
    const text = fs.readFileSync(`/proc/${pid}/stat`, "utf8");
    return text.slice(text.lastIndexOf(") ") + 2).split(" ");
  } catch {
    return [];
  }
}
