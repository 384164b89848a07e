/**
 * Loaded first into processes that `spawnNode` starts. Ends the process and its group when its parent is gone.
 * The pipe is the parent's alone, so it ends with the parent. What this process starts itself has another parent.
 */
import net from "node:net";

if (process.ppid === Number(process.env.GIFTCARD_PARENT_PID)) {
  const pipe = new net.Socket({ fd: 3, readable: true });
  pipe.unref();
  pipe.on("error", () => {});
  pipe.on("close", () => process.kill(process.platform === "win32" ? process.pid : -process.pid, "SIGKILL"));
  pipe.resume();
}
