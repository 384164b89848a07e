import { execFileSync, spawn } from "node:child_process";
import fs from "node:fs";
import net from "node:net";
import os from "node:os";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import tls from "node:tls";
import { freePort } from "../../scripts/lib/process.mjs";

const DEPLOY = path.resolve(import.meta.dirname, "../../packages/service/deploy");
const STARTS_WITHIN_MS = 30_000;
/** The name in the examples. */
const SERVER_NAME = "cards.example";

export const webProxies = ["nginx", "caddy"] as const;
export type WebProxyName = (typeof webProxies)[number];

/** An nginx or Caddy with the example configuration of the package, and a certificate that nobody knows. */
export interface WebProxy {
  /**
   * Sends the bytes of a request over TLS, and returns everything that is received until the connection is closed.
   *
   * @param localAddress the caller's address, in 127.0.0.0/8
   */
  exchange(bytes: string, localAddress?: string): Promise<string>;
  /** Returns all logs so far. */
  logs(): string;
  stop(): Promise<void>;
}

// Debian installs nginx in a folder that is only on root's PATH.
const programOf = (name: WebProxyName) =>
  name === "nginx" && fs.existsSync("/usr/sbin/nginx") ? "/usr/sbin/nginx" : name;

/** Returns whether the program and `openssl`, which makes its certificate, are installed. */
export function hasWebProxy(name: WebProxyName): boolean {
  try {
    execFileSync("openssl", ["version"], { stdio: "ignore" });
    execFileSync(programOf(name), [name === "nginx" ? "-v" : "version"], { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
}

/** @param services the `host:port` of each process of the service */
export async function startWebProxy(name: WebProxyName, services: readonly string[]): Promise<WebProxy> {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), `giftcard-${name}-`));
  const file = (one: string) => path.join(folder, one);
  const key = ["-newkey", "rsa:2048", "-nodes", "-keyout", file("key.pem")];
  const subject = ["-days", "2", "-subj", `/CN=${SERVER_NAME}`, "-addext", `subjectAltName=DNS:${SERVER_NAME}`];
  execFileSync("openssl", ["req", "-x509", ...key, "-out", file("crt.pem"), ...subject], { stdio: "ignore" });
  const port = await freePort();
  const args = (name === "nginx" ? writeNginx : await caddyWriter())(file, port, services);
  const env = { ...process.env, HOME: folder, XDG_DATA_HOME: folder, XDG_CONFIG_HOME: folder };
  const child = spawn(programOf(name), args, { cwd: folder, env, stdio: ["ignore", "ignore", "pipe"] });
  let said = "";
  child.stderr.on("data", (chunk) => (said += chunk));
  const ended = new Promise((resolve) => child.once("close", resolve));
  const endNow = () => void child.kill("SIGKILL");
  process.once("exit", endNow);
  const stop = async () => {
    child.kill("SIGTERM");
    await ended;
    process.removeListener("exit", endNow);
    fs.rmSync(folder, { recursive: true, force: true });
  };
  for (const giveUpAt = Date.now() + STARTS_WITHIN_MS; !(await listens(port)); await sleep(50)) {
    if (Date.now() < giveUpAt && child.exitCode === null) continue;
    await stop();
    throw new Error(`${name} did not start:\n${said}`);
  }
  return {
    exchange: (bytes, localAddress = "127.0.0.1") =>
      new Promise((resolve, reject) => {
        const way = { host: "127.0.0.1", port, servername: SERVER_NAME, localAddress, rejectUnauthorized: false };
        const socket = tls.connect(way, () => socket.write(bytes));
        let received = "";
        socket.on("data", (chunk) => (received += chunk));
        socket.once("error", reject);
        socket.once("close", () => resolve(received));
      }),
    logs: () => {
      const logs = fs.readdirSync(folder).filter((one) => one.endsWith(".log"));
      return said + logs.map((one) => fs.readFileSync(file(one), "utf8")).join("");
    },
    stop,
  };
}

type File = (name: string) => string;

/** Replaces parts of an example. @throws if one occurs not exactly once */
function adapt(name: string, changes: Record<string, string>): string {
  let text = fs.readFileSync(path.join(DEPLOY, name), "utf8");
  for (const [from, to] of Object.entries(changes)) {
    if (text.split(from).length !== 2) throw new Error(`deploy/${name} has not exactly one: ${from}`);
    text = text.replace(from, () => to);
  }
  return text;
}

function writeNginx(file: File, port: number, services: readonly string[]): string[] {
  const example = adapt("nginx.conf", {
    "listen 443 ssl;": `listen 127.0.0.1:${port} ssl;`,
    "server 127.0.0.1:8080;": services.map((one) => `server ${one};`).join("\n"),
    "/etc/ssl/giftcard/fullchain.pem": file("crt.pem"),
    "/etc/ssl/giftcard/privkey.pem": file("key.pem"),
    "/var/log/nginx/giftcard.log": file("access.log"),
    // As a warning, nginx reports each body that it writes to a file.
    "/var/log/nginx/giftcard-error.log error;": `${file("error.log")} warn;`,
  });
  const temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map(
    (kind) => `${kind}_temp_path ${file(`${kind}-temp`)};`,
  );
  const settings = [
    ...(process.getuid?.() === 0 ? ["user root;"] : []),
    "daemon off;",
    "worker_processes 1;",
    `pid ${file("nginx.pid")};`,
    "events {}",
    `http {\n${temporary.join("\n")}\n${example}}`,
  ];
  fs.writeFileSync(file("nginx.conf"), `${settings.join("\n")}\n`);
  return ["-e", "stderr", "-p", file(""), "-c", file("nginx.conf")];
}

/** Caddy also listens on a port for HTTP, for its certificates. */
async function caddyWriter() {
  const httpPort = await freePort();
  return (file: File, port: number, services: readonly string[]): string[] => {
    const ports = [`https_port ${port}`, `http_port ${httpPort}`, "default_bind 127.0.0.1", "admin off"];
    const example = adapt("Caddyfile", {
      "auto_https disable_redirects": ["auto_https disable_redirects", ...ports].join("\n\t"),
      [`${SERVER_NAME} {`]: `${SERVER_NAME} {\n\ttls ${file("crt.pem")} ${file("key.pem")}`,
      "reverse_proxy 127.0.0.1:8080": `reverse_proxy ${services.join(" ")}`,
      "/var/log/caddy/giftcard.log": file("access.log"),
    });
    fs.writeFileSync(file("Caddyfile"), example);
    return ["run", "--adapter", "caddyfile", "--config", file("Caddyfile")];
  };
}

const listens = (port: number) =>
  new Promise<boolean>((resolve) => {
    const socket = net.connect(port, "127.0.0.1");
    socket.once("connect", () => resolve(true)).once("error", () => resolve(false));
    socket.once("connect", () => socket.destroy());
  });
