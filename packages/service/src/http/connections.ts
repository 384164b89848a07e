import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { Socket } from "node:net";

/**
 * The maximum number of pipelined calls of a connection: unanswered, or of one turn of the event loop. An unanswered call
 * takes about 2 kB, and its answer. A caller that waits for each answer sends at most 32 calls a turn, since Node.js reads a
 * socket no more often.
 */
const MOST_PIPELINED = 64;

class Connection {
  /** The answers that are not sent yet, in the order of their calls. */
  readonly answers = new Set<ServerResponse>();
  /** When it began to wait for a call or the remainder of one, by performance.now(). */
  waitingSince = performance.now();
  /** The turn of the event loop in which its last call arrived, and the number of calls in that turn. */
  turn = 0;
  callsInTurn = 0;
  /** Whether further bytes on it cannot be parsed. */
  isBroken = false;
}

/**
 * Limits a server's connections. Above the limit, it closes the connection that has waited longest for its caller, so that
 * incomplete calls cannot keep others out. It also closes a connection that pipelines more than 64 calls: a caller that sends
 * without reading would otherwise fill the memory, and keep the event loop from other connections.
 */
export class Connections {
  /** Those that have waited longest come first. */
  readonly #open = new Map<Socket, Connection>();
  #isEnding = false;
  #turn = 0;
  #isTurnCounted = false;

  constructor(server: Server, most: number) {
    server.on("connection", (socket: Socket) => {
      this.#open.set(socket, new Connection());
      socket.once("close", () => this.#open.delete(socket));
      if (this.#open.size > most) this.#endLongestWaiting();
    });
  }

  /**
   * Starts to follow a call.
   *
   * @returns whether to answer it; false if its connection is closed
   */
  admit({ socket }: IncomingMessage, response: ServerResponse): boolean {
    const connection = this.#open.get(socket);
    if (!connection || connection.answers.size >= MOST_PIPELINED || this.#countInTurn(connection) > MOST_PIPELINED) {
      // The parser continues with the calls of its current 64 kB.
      socket.destroy();
      return false;
    }
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
    return true;
  }

  /** Makes each further answer the last on its connection, with `Connection: close`. Restarts the idle times. */
  beginEnding(): void {
    this.#isEnding = true;
    for (const connection of this.#open.values()) {
      for (const answer of connection.answers) makeLast(answer);
      connection.waitingSince = performance.now();
    }
  }

  /** Closes the connections that have had no call for this time. */
  closeIdle(idleMs: number): void {
    const since = performance.now() - idleMs;
    for (const [socket, { answers, waitingSince }] of this.#open)
      if (answers.size === 0 && waitingSince <= since) socket.destroySoon();
  }

  /**
   * Ends a connection with unparsable input once its complete calls are answered. An earlier error answer would be taken
   * for the answer of such a call.
   *
   * @returns false if no answer is pending; nothing is done then
   */
  endAfterAnswers(socket: Socket): boolean {
    const connection = this.#open.get(socket);
    const last = connection && pendingOf(connection).at(-1);
    if (!last) return false;
    // Unparsable input may arrive in many pieces.
    if (connection.isBroken) return true;
    connection.isBroken = true;
    makeLast(last);
    last.once("close", () => socket.destroySoon());
    return true;
  }

  /** Returns the number of calls of a connection in this turn of the event loop. */
  #countInTurn(connection: Connection): number {
    if (!this.#isTurnCounted) {
      this.#isTurnCounted = true;
      setImmediate(() => {
        this.#turn += 1;
        this.#isTurnCounted = false;
      });
    }
    connection.callsInTurn = connection.turn === this.#turn ? connection.callsInTurn + 1 : 1;
    connection.turn = this.#turn;
    return connection.callsInTurn;
  }

  #endLongestWaiting(): void {
    // The new connection itself if all others have a call.
    for (const [socket, connection] of this.#open) {
      if (pendingOf(connection).length > 0) continue;
      // Now, since another connection may arrive before the `close` event.
      this.#open.delete(socket);
      socket.destroy();
      return;
    }
  }
}

/** Returns the pending answers of calls that have arrived completely. */
const pendingOf = ({ answers }: Connection) => [...answers].filter(({ req }) => req.complete);

/** Makes an answer the last one on its connection, unless its headers are already sent. */
function makeLast(answer: ServerResponse): void {
  if (!answer.headersSent) answer.shouldKeepAlive = false;
}
