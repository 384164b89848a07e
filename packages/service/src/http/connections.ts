import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { Socket } from "node:net";

/** What a connection is in the middle of. */
interface Connection {
  /** Not answered yet, in their order. */
  readonly answers: Set<ServerResponse>;
  /** When it began to wait for a call, or for the rest of one; by performance.now(). */
  waitingSince: number;
  /** Nothing more that comes on it is understood. */
  isBroken: boolean;
}

/**
 * Limits a server's connections. Past the limit the one that has waited longest for its caller gives way: for a call, or
 * for the rest of one. So nobody keeps others out by calls that never come whole.
 */
export class Connections {
  /** Who began to wait longest ago first. */
  readonly #open = new Map<Socket, Connection>();
  #isEnding = false;

  constructor(server: Server, most: number) {
    server.on("connection", (socket: Socket) => {
      this.#open.set(socket, { answers: new Set(), waitingSince: performance.now(), isBroken: false });
      socket.once("close", () => this.#open.delete(socket));
      if (this.#open.size > most) this.#endLongestWaiting();
    });
    server.prependListener("request", (request, response) => this.#follow(request, response));
  }

  /** From now on each answer is the last one on its connection, and says so. All begin to be idle anew. */
  beginEnding(): void {
    this.#isEnding = true;
    for (const connection of this.#open.values()) {
      for (const answer of connection.answers) makeLast(answer);
      connection.waitingSince = performance.now();
    }
  }

  /** Closes those that have had no call for so long. */
  closeIdle(idleMs: number): void {
    const since = performance.now() - idleMs;
    for (const [socket, { answers, waitingSince }] of this.#open)
      if (answers.size === 0 && waitingSince <= since) socket.destroySoon();
  }

  /**
   * Ends a connection on which nothing more can be understood, when each call that came whole before that has its answer:
   * another one in its place would be taken for it.
   *
   * @returns false where no answer is owed; nothing is done then
   */
  endAfterAnswers(socket: Socket): boolean {
    const connection = this.#open.get(socket);
    const last = connection && owedBy(connection).at(-1);
    if (!last) return false;
    // What is not understood may come in many pieces.
    if (connection.isBroken) return true;
    connection.isBroken = true;
    makeLast(last);
    last.once("close", () => socket.destroySoon());
    return true;
  }

  #endLongestWaiting(): void {
    // The new one itself, where all others have a call.
    for (const [socket, connection] of this.#open) {
      if (owedBy(connection).length > 0) continue;
      // At once, as the next one may come before its `close`.
      this.#open.delete(socket);
      socket.destroy();
      return;
    }
  }

  #follow({ socket }: IncomingMessage, response: ServerResponse): void {
    const connection = this.#open.get(socket);
    if (!connection) return;
    const { answers } = connection;
    const beginWaiting = () => {
      if (!this.#open.delete(socket)) return;
      connection.waitingSince = performance.now();
      this.#open.set(socket, connection);
    };
    answers.add(response);
    beginWaiting();
    if (this.#isEnding) makeLast(response);
    response.once("close", () => {
      answers.delete(response);
      beginWaiting();
    });
  }
}

/** The answers to calls that have come whole. */
const owedBy = ({ answers }: Connection) => [...answers].filter(({ req }) => req.complete);

/** Makes an answer the last one on its connection, unless it has begun and said otherwise. */
function makeLast(answer: ServerResponse): void {
  if (!answer.headersSent) answer.shouldKeepAlive = false;
}
