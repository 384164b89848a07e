import http, { type RequestListener } from "node:http";
import net, { type AddressInfo } from "node:net";
import { defaultLimits } from "../limits/limits.js";
import { OperatorError } from "../operator-error.js";
import { answerBrokenRequest, answerConnect, answerExpectation } from "./broken-request.js";
import { Connections } from "./connections.js";

/** How long a caller may take. */
export interface Timeouts {
  readonly headersMs: number;
  /** For the whole of its request, headers included. */
  readonly requestMs: number;
  /** Without a call on its connection. */
  readonly idleMs: number;
}

/** The times that a service waits where nothing else is said. */
export const defaultTimeouts: Timeouts = {
  headersMs: 10_000,
  requestMs: 30_000,
  // Longer than callers keep their connections, so that we don't close one while a devalue is on its way.
  idleMs: 75_000,
};

/** Where metrics are served when nothing else is said: on this machine alone. */
export const DEFAULT_METRICS_HOST = "127.0.0.1";

const TIMEOUT_CHECK_MS = 1000;
/** A connection on which nothing moves although an answer is under way: its caller doesn't read. */
const STALLED_AFTER_MS = 60_000;
const DRAIN_TIMEOUT_MS = 20_000;
const SWEEP_MS = 50;

/** A server that answers. */
export interface RunningServer {
  readonly url: string;
  /** Takes no new connections. Calls on those that there are go on. */
  stopListening(): void;
  /**
   * Takes no new connections, answers the calls on those that there are, each with the word that it is the last one, and
   * waits until all are closed: 20 seconds at most.
   *
   * @param idleMs a connection without a call is kept for so long, as its caller may have sent one just now. Default 0
   */
  close(idleMs?: number): Promise<void>;
}

/** Where a server listens, and what it takes. */
interface ListenOptions {
  readonly host: string;
  /** 0 takes a free one. */
  readonly port: number;
  readonly timeouts?: Timeouts | undefined;
  /** As many at once; past them, the one that has waited longest for a call, or for the rest of one, is closed. */
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
 * For who makes something before it listens, such as a database.
 * @throws {OperatorError} when the address cannot be listened on
 */
export async function requireAddress(host: string, port: number): Promise<void> {
  const server = net.createServer();
  await bind(server, host, port);
  await new Promise((resolve) => server.close(resolve));
}

/**
 * Listens for HTTP.
 *
 * @throws {OperatorError} when the address cannot be listened on
 */
export async function listen(
  listener: RequestListener,
  { host, port, timeouts = defaultTimeouts, connections = defaultLimits.connections }: ListenOptions,
): Promise<RunningServer> {
  const server = http.createServer(
    {
      headersTimeout: Math.min(timeouts.headersMs, timeouts.requestMs),
      requestTimeout: timeouts.requestMs,
      connectionsCheckingInterval: TIMEOUT_CHECK_MS,
      keepAliveTimeout: timeouts.idleMs,
      // Node's own refusal has no body.
      requireHostHeader: false,
    },
    listener,
  );
  server.setTimeout(timeouts.idleMs + STALLED_AFTER_MS);
  // Who has said all that it has to say, and ends its side, is still answered.
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
  // HTTP's own way of it would close every connection without a call at once, also one whose next call is on its way.
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
      // A connection that has just been answered becomes idle only now, so look again until none is left.
      const sweep = setInterval(() => open.closeIdle(idleMs), SWEEP_MS);
      const giveUp = setTimeout(() => server.closeAllConnections(), DRAIN_TIMEOUT_MS);
      await closed;
      clearInterval(sweep);
      clearTimeout(giveUp);
      // No timer of HTTP's stays behind.
      server.close(() => {});
    },
  };
}
