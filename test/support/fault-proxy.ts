import http from "node:http";
import type { AddressInfo } from "node:net";

/**
 * A fault of a call:
 * - `pass`: none.
 * - `delay`: the call arrives late.
 * - `cut-before`: the connection is closed before the service receives the call.
 * - `cut-after`: the service executes the call, and the response is lost.
 * - `error`, `busy`, `deny`: the proxy responds with a 500, 429 or 400, and the service never receives the call.
 * - `deny-after`: the service executes the call, and the proxy responds with a 400.
 * - `garbage`: the service executes the call, and the response is unreadable.
 * - `half`: the service executes the call, and the connection is closed in the middle of the response.
 * - `hold`: the call is delivered only after `release()`, and answered if the caller still waits.
 * - `late`: the connection is closed at once, and the call is delivered only after `release()`.
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

/** A call that arrived at the proxy, without its body and its secrets. */
export interface SeenCall {
  readonly operation: string;
  readonly idempotencyKey: string | undefined;
}

export interface FaultProxy {
  readonly url: string;
  /** Every call, in order. */
  readonly seen: SeenCall[];
  /**
   * Sets the fault of an operation (`devalue`, `canceldevalue`, …): for its next `times` calls, after `skip` calls that
   * pass. By default it applies until it is set again.
   */
  set(operation: string, fault: Fault, times?: number, skip?: number): void;
  /** Accepts connections, or refuses all of them. */
  listen(on: boolean): Promise<void>;
  /** Forwards later calls to another URL, for a restarted service. */
  setTarget(url: string): void;
  /** Removes all faults, and the effect of `withoutExtension`. */
  clear(): void;
  /** Removes the Idempotency-Key from calls, as if the service supported only the plain interface. */
  withoutExtension(on: boolean): void;
  /** Delivers every held call and waits for the service's responses. */
  release(): Promise<void>;
  stop(): Promise<void>;
}

const DELAY_MS = 300;

const lastOfPath = ({ url = "" }: http.IncomingMessage) => url.split("/").filter(Boolean).pop() ?? "";

/**
 * Starts an HTTP proxy between a shop and the service that simulates network failures.
 * @param operationOf returns the operation of a call; by default, the last segment of its path
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

  async function handle(request: http.IncomingMessage, response: http.ServerResponse, body: Buffer): Promise<void> {
    const operation = operationOf(request);
    const key = request.headers["idempotency-key"];
    seen.push({ operation, idempotencyKey: Array.isArray(key) ? key[0] : key });
    const fault = nextFault(operation);
    if (fault === "cut-before") return void request.socket.destroy();
    if (fault === "error") return void response.writeHead(500, { "content-type": "text/html" }).end("<h1>Oops</h1>");
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
    if (fault === "garbage") return void response.writeHead(200, { "content-type": "application/json" }).end('{"succ');
    if (fault !== "half") return void response.writeHead(answer.status, answer.headers).end(answer.body);
    const { "transfer-encoding": _, ...headers } = answer.headers;
    response.writeHead(answer.status, { ...headers, "content-length": answer.body.length });
    response.write(answer.body.subarray(0, answer.body.length / 2), () => request.socket.destroy());
  }

  async function forward(request: http.IncomingMessage, body: Buffer) {
    const address = new URL(request.url ?? "/", target);
    return new Promise<{ status: number; headers: http.IncomingHttpHeaders; body: Buffer }>((resolve, reject) => {
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
    });
  }

  const open = (port: number) => new Promise<void>((resolve) => server.listen(port, "127.0.0.1", () => resolve()));
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
