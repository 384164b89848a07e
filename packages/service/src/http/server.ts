import http, { type RequestListener } from "node:http";
import net, { type AddressInfo } from "node:net";
import { defaultLimits, defaultTimeouts, type Timeouts } from "../limits/limits.js";
import { OperatorError } from "../operator-error.js";
import { answerBrokenRequest, answerConnect, answerExpectation } from "./broken-request.js";
import { Connections } from "./connections.js";

const TIMEOUT_CHECK_MS = 1000;
/** How long an answer may be stalled by a caller that does not read it. */
const STALLED_AFTER_MS = 60_000;
const DRAIN_TIMEOUT_MS = 20_000;
const SWEEP_MS = 50;

/** A running server. */
export interface RunningServer {
  readonly url: string;
  /** Accepts no new connections. Calls on open connections continue. */
  stopListening(): void;
  /**
   * Accepts no new connections, answers the calls on open ones with `Connection: close`, and waits until all connections
   * are closed, at most 20 seconds.
   *
   * @param idleMs how long an idle connection is kept, since its caller may just have sent a call. Default: 0
   */
  close(idleMs?: number): Promise<void>;
}

interface ListenOptions {
  readonly host: string;
  /** 0 chooses a free one. */
  readonly port: number;
  readonly timeouts?: Timeouts | undefined;
  /** The maximum number of connections. Above it, the connection that has waited longest for its caller is closed. */
  readonly connections?: number | undefined;
}

const bind = (server: net.Server, host: string, port: number) =>
  new Promise<void>((resolve, reject) => {
    server.once("error", (error: NodeJS.ErrnoException) =>
      reject(
        new OperatorError(
          `Cannot listen on ${host}:${port} (${error.code}). Choose another port (--port, --metrics-port) or address (--host, --metrics-host).`,
        ),
      ),
    );
    server.listen(port, host, resolve);
  });

/**
 * Checks that an address can be listened on, before work is done that would be in vain.
 *
 * @throws {OperatorError} if it cannot
 */
export async function requireAddress(host: string, port: number): Promise<void> {
  const server = net.createServer();
  await bind(server, host, port);
  await new Promise((resolve) => server.close(resolve));
}

/**
 * Starts an HTTP server.
 *
 * @throws {OperatorError} if the address cannot be listened on
 */
export async function listen(
  listener: RequestListener,
  { host, port, timeouts = defaultTimeouts, connections = defaultLimits.connections }: ListenOptions,
): Promise<RunningServer> {
  const server: http.Server = http.createServer(
    {
      headersTimeout: Math.min(timeouts.headersMs, timeouts.requestMs),
      requestTimeout: timeouts.requestMs,
      connectionsCheckingInterval: TIMEOUT_CHECK_MS,
      keepAliveTimeout: timeouts.idleMs,
      // Node.js's own rejection has no body.
      requireHostHeader: false,
    },
    (request, response) => {
      if (open.admit(request, response)) listener(request, response);
    },
  );
  server.setTimeout(timeouts.idleMs + STALLED_AFTER_MS);
  // A caller that closes its side after sending its call is still answered.
  Object.assign(server, { httpAllowHalfOpen: true });
  const open = new Connections(server, connections);
  server.on("clientError", (failure, socket: net.Socket) => {
    if (!open.endAfterAnswers(socket)) answerBrokenRequest(failure, socket);
  });
  server.on("connect", (_request, socket: net.Socket) => {
    socket.on("error", () => {});
    if (!open.endAfterAnswers(socket)) answerConnect(socket);
  });
  server.on("checkExpectation", answerExpectation);
  await bind(server, host, port);
  const { address, family, port: taken } = server.address() as AddressInfo;
  let allClosed: Promise<void> | undefined;
  // Unlike `http.Server.close`, this keeps idle connections open: a call may be arriving on one.
  const stopListening = () => {
    allClosed ??= new Promise((resolve) => net.Server.prototype.close.call(server, () => resolve()));
    return allClosed;
  };
  return {
    url: `http://${family === "IPv6" ? `[${address}]` : address}:${taken}`,
    stopListening: () => void stopListening(),
    async close(idleMs = 0) {
      const closed = stopListening();
      open.beginEnding();
      open.closeIdle(idleMs);
      // Connections become idle when their call is answered, so look repeatedly.
      const sweep = setInterval(() => open.closeIdle(idleMs), SWEEP_MS);
      const giveUp = setTimeout(() => server.closeAllConnections(), DRAIN_TIMEOUT_MS);
      await closed;
      clearInterval(sweep);
      clearTimeout(giveUp);
      // Clears the timers of the HTTP server.
      server.close(() => {});
    },
  };
}
