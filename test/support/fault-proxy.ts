import http from "node:http";
import type { AddressInfo } from "node:net";

/**
 * What happens to a call on its way: `pass`; `delay` (it arrives a moment later); `cut-before` (the connection ends
 * before the service sees the call); `cut-after` (the service does its work, the answer is lost); `error` (a 500 instead
 * of the call); `busy` (a 429 instead); `deny` (a 400 instead, of something on the way); `deny-after` (the service does
 * its work, and that 400 comes instead of its answer); `garbage` (the service does its work, the answer is unreadable); `half` (the
 * same, and the connection ends in the middle of the answer); `hold` (the call is delivered only after `release()`, and
 * answered if the caller still waits); `late` (the connection ends at once, and the call is delivered only after
 * `release()`).
 */
export type Fault =
  | "pass"
  | "delay"
  | "cut-before"
  | "cut-after"
  | "error"
  | "busy"
  | "deny"
  | "deny-after"
  | "garbage"
  | "half"
  | "hold"
  | "late";

/** A call that arrived at the proxy. No body, no secret. */
export interface SeenCall {
  readonly operation: string;
  readonly idempotencyKey: string | undefined;
}

export interface FaultProxy {
  readonly url: string;
  /** Every call, in order. */
  readonly seen: SeenCall[];
  /**
   * Sets the fault of one operation (`devalue`, `canceldevalue`, …) until it is set again, or for `times` calls, after
   * `skip` that pass.
   */
  set(operation: string, fault: Fault, times?: number, skip?: number): void;
  /** Whether connections are taken at all. */
  listen(on: boolean): Promise<void>;
  /** Where the calls go from now on, for a service that was started again. */
  setTarget(url: string): void;
  /** Back to `pass` for all. */
  clear(): void;
  /** Takes the Idempotency-Key away, as if the service knew the plain interface only. */
  withoutExtension(on: boolean): void;
  /** Delivers every held call and waits for the service's answers. */
  release(): Promise<void>;
  stop(): Promise<void>;
}

const DELAY_MS = 300;

const lastOfPath = ({ url = "" }: http.IncomingMessage) => url.split("/").filter(Boolean).pop() ?? "";

/**
 * A real HTTP proxy between a shop and the service, which can fail in every way that a network can.
 * @param operationOf names a call; the end of its path when left out
 */
export async function startFaultProxy(
  targetUrl: string,
  operationOf: (request: http.IncomingMessage) => string = lastOfPath,
): Promise<FaultProxy> {
  const faults = new Map<string, { fault: Fault; left: number; skip: number }>();
  const held: (() => void)[] = [];
  const deliveries = new Set<Promise<unknown>>();
  const seen: SeenCall[] = [];
  let plain = false;
  let target = targetUrl;

  const server = http.createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk) => chunks.push(chunk));
    request.on("end", () => void handle(request, response, Buffer.concat(chunks)));
  });

  function nextFault(operation: string): Fault {
    const set = faults.get(operation);
    if (!set || set.left <= 0) return "pass";
    if (set.skip > 0) {
      set.skip -= 1;
      return "pass";
    }
    set.left -= 1;
    return set.fault;
  }

  async function handle(
    request: http.IncomingMessage,
    response: http.ServerResponse,
    body: Buffer,
  ): Promise<void> {
    const operation = operationOf(request);
    const key = request.headers["idempotency-key"];
    seen.push({ operation, idempotencyKey: Array.isArray(key) ? key[0] : key });
    const fault = nextFault(operation);
    if (fault === "cut-before") return void request.socket.destroy();
    if (fault === "error")
      return void response.writeHead(500, { "content-type": "text/html" }).end("<h1>Oops</h1>");
    if (fault === "busy") {
      const headers = { "content-type": "application/json", "retry-after": "1" };
      return void response.writeHead(429, headers).end('{"success":false,"error":"Too many calls."}');
    }
    const deny = () => {
      const text = '{"success":false,"error":"Not here."}';
      response.writeHead(400, { "content-type": "application/json" }).end(text);
    };
    if (fault === "deny") return deny();
    if (fault === "delay") await new Promise((resolve) => setTimeout(resolve, DELAY_MS));
    if (fault === "late") request.socket.destroy();
    if (fault === "hold" || fault === "late") await new Promise<void>((resolve) => held.push(resolve));
    const delivered = forward(request, body).catch(() => undefined);
    deliveries.add(delivered);
    const answer = await delivered;
    deliveries.delete(delivered);
    if (!answer || fault === "cut-after" || fault === "late") return void request.socket.destroy();
    if (fault === "deny-after") return deny();
    if (fault === "garbage")
      return void response.writeHead(200, { "content-type": "application/json" }).end('{"succ');
    if (fault !== "half") return void response.writeHead(answer.status, answer.headers).end(answer.body);
    const { "transfer-encoding": _, ...headers } = answer.headers;
    response.writeHead(answer.status, { ...headers, "content-length": answer.body.length });
    response.write(answer.body.subarray(0, answer.body.length / 2), () => request.socket.destroy());
  }

  async function forward(request: http.IncomingMessage, body: Buffer) {
    const address = new URL(request.url ?? "/", target);
    return new Promise<{ status: number; headers: http.IncomingHttpHeaders; body: Buffer }>(
      (resolve, reject) => {
        const headers: http.OutgoingHttpHeaders = {
          ...request.headers,
          host: address.host,
          connection: "close",
        };
        if (plain) delete headers["idempotency-key"];
        const outgoing = http.request(address, { method: request.method, headers }, (incoming) => {
          const chunks: Buffer[] = [];
          incoming.on("data", (chunk) => chunks.push(chunk));
          incoming.on("error", reject);
          incoming.on("end", () =>
            resolve({
              status: incoming.statusCode ?? 502,
              headers: incoming.headers,
              body: Buffer.concat(chunks),
            }),
          );
        });
        outgoing.on("error", reject);
        outgoing.end(body);
      },
    );
  }

  const open = (port: number) =>
    new Promise<void>((resolve) => server.listen(port, "127.0.0.1", () => resolve()));
  const close = () =>
    new Promise<void>((resolve) => {
      server.close(() => resolve());
      server.closeAllConnections();
    });
  await open(0);
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    seen,
    set: (operation, fault, times = Number.POSITIVE_INFINITY, skip = 0) =>
      void faults.set(operation, { fault, left: times, skip }),
    async listen(on) {
      if (on !== server.listening) await (on ? open(port) : close());
    },
    setTarget(url) {
      target = url;
    },
    clear() {
      faults.clear();
      plain = false;
    },
    withoutExtension(on) {
      plain = on;
    },
    async release() {
      for (const deliver of held.splice(0)) deliver();
      await new Promise((resolve) => setImmediate(resolve));
      await Promise.allSettled(deliveries);
    },
    stop: close,
  };
}
