import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { Socket } from "node:net";

/** Limits a server's connections. Past the limit the one that has been without a call for longest gives way. */
export class Connections {
  /** Without a call under way, and since when; longest first. */
  readonly #idle = new Map<Socket, number>();
  readonly #calls = new WeakMap<Socket, number>();
  /** Not answered yet. */
  readonly #answers = new Set<ServerResponse>();
  #open = 0;
  #isEnding = false;

  constructor(server: Server, most: number) {
    server.on("connection", (socket: Socket) => {
      this.#open += 1;
      this.#idle.set(socket, performance.now());
      socket.once("close", () => {
        this.#open -= 1;
        this.#idle.delete(socket);
      });
      if (this.#open <= most) return;
      // The new one itself, where all others have a call.
      const [longest] = this.#idle.keys();
      longest?.destroy();
    });
    server.prependListener("request", (request, response) => this.#follow(request, response));
  }

  /** From now on each answer is the last one on its connection, and says so. All begin to be idle anew. */
  beginEnding(): void {
    this.#isEnding = true;
    for (const answer of this.#answers) if (!answer.headersSent) answer.shouldKeepAlive = false;
    for (const socket of this.#idle.keys()) this.#idle.set(socket, performance.now());
  }

  /** Closes those that have had no call for so long. */
  closeIdle(idleMs: number): void {
    const since = performance.now() - idleMs;
    for (const [socket, idleSince] of this.#idle) if (idleSince <= since) socket.destroySoon();
  }

  #follow({ socket }: IncomingMessage, response: ServerResponse): void {
    const count = (more: number) => {
      const calls = (this.#calls.get(socket) ?? 0) + more;
      this.#calls.set(socket, calls);
      this.#idle.delete(socket);
      if (calls === 0 && !socket.destroyed) this.#idle.set(socket, performance.now());
    };
    count(1);
    this.#answers.add(response);
    if (this.#isEnding) response.shouldKeepAlive = false;
    response.once("close", () => {
      this.#answers.delete(response);
      count(-1);
    });
  }
}
