import fs from "node:fs";

/** True when the process runs. One that has ended and that nobody has asked after yet does not. */
export function isRunning(pid: number): boolean {
  if (!(pid > 1)) return false;
  try {
    process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
  return statOf(pid)[0] !== "Z";
}

/** When a process started, where the system tells, so that a number used again is not taken for it. */
export const startOf = (pid: number): string => statOf(pid)[19] ?? "";

/** Linux's fields on a process, from its state on; the name before them may hold spaces and brackets. */
function statOf(pid: number): string[] {
  try {
    const text = fs.readFileSync(`/proc/${pid}/stat`, "utf8");
    return text.slice(text.lastIndexOf(") ") + 2).split(" ");
  } catch {
    return [];
  }
}
