import { execFileSync } from "node:child_process";
import fs from "node:fs";
import net, { type AddressInfo } from "node:net";
import os from "node:os";
import path from "node:path";
import tls from "node:tls";

let made: { key: Buffer; cert: Buffer } | undefined;

/** Returns the self-signed certificate of this process. */
function certificate(): { key: Buffer; cert: Buffer } {
  if (made) return made;
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), "giftcard-tls-"));
  const args =
    "req -x509 -nodes -days 2 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -keyout key -out crt -subj /CN=localhost";
  execFileSync("openssl", args.split(" "), { cwd: folder, stdio: "pipe" });
  const read = (name: string) => fs.readFileSync(path.join(folder, name));
  made = { key: read("key"), cert: read("crt") };
  fs.rmSync(folder, { recursive: true });
  return made;
}

/**
 * Serves an HTTP server over TLS with a self-signed certificate, for SDKs that only call `https`. A caller that trusts fixed
 * authorities only, such as Mollie's SDK, needs NODE_TLS_REJECT_UNAUTHORIZED=0.
 */
export async function startTlsFront(targetUrl: string): Promise<{ url: string; stop(): Promise<void> }> {
  const sockets = new Set<net.Socket>();
  const server = tls.createServer(certificate(), (socket) => {
    const target = net.connect(Number(new URL(targetUrl).port), "127.0.0.1");
    for (const [one, other] of [
      [socket, target],
      [target, socket],
    ] as const) {
      sockets.add(one);
      one.on("error", () => other.destroy());
      one.on("close", () => {
        sockets.delete(one);
        other.destroy();
      });
      one.pipe(other);
    }
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `https://127.0.0.1:${(server.address() as AddressInfo).port}`,
    stop: async () => {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
