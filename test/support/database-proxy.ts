import { randomBytes } from "node:crypto";
import net, { type AddressInfo, type Socket } from "node:net";

/**
 * A fault of a request to PostgreSQL:
 * - `pass`: none.
 * - `refuse`: all connections are closed, and new ones are refused for a while.
 * - `delay`: the request arrives late.
 * - `cut-before`: the connection is closed before the database receives the request.
 * - `cut-after`: the database executes the request, and the response is lost.
 * - `garbage`, `half`: like `cut-after`, but the client first receives random bytes, or half of the response.
 * - `hold`: the request is delivered only after `release()`.
 * - `forget`: the response arrives, then the connection loses its prepared statements, as behind a pooler that assigns
 *   a connection per transaction.
 */
export type DatabaseFault =
  | "pass"
  | "refuse"
  | "delay"
  | "cut-before"
  | "cut-after"
  | "garbage"
  | "half"
  | "hold"
  | "forget";

/** A fault for the requests that match a pattern. */
export interface Trap {
  /** Matches the text and the parameters of a request. */
  readonly pattern: RegExp;
  readonly fault: DatabaseFault;
  /** The number of requests that it applies to. Default 1. */
  readonly times?: number;
  /** The number of matching requests that pass first. Default 0. */
  readonly skip?: number;
}

export interface DatabaseProxy {
  /** The database's address through the proxy. */
  readonly url: string;
  /** The number of requests that a trap applied to since the last `clear`. */
  readonly hits: number;
  set(trap: Trap): void;
  /** Removes all traps. Held requests stay held. */
  clear(): void;
  /** Delivers the held requests whose connections are still open. */
  release(): void;
  stop(): Promise<void>;
}

const DELAY_MS = 300;
const OUTAGE_MS = 800;
const SSL_REQUEST = 80_877_103;
/** The message types that end a request: sync, simple query, terminate, copy, password and function call. */
const ends = new Set([..."SQXdcfpF"].map((letter) => letter.charCodeAt(0)));
const READY = "Z".charCodeAt(0);
const FORGET = Buffer.from("Q\0\0\0\x13deallocate all\0", "latin1");

/** Starts a TCP proxy between a shop and its database. It detects where requests and responses end. */
export async function startDatabaseProxy(databaseUrl: string): Promise<DatabaseProxy> {
  const target = new URL(databaseUrl);
  const traps: { trap: Trap; left: number; skip: number }[] = [];
  const held: (() => void)[] = [];
  const pairs = new Set<() => void>();
  let hits = 0;

  const server = net.createServer({ pauseOnConnect: true }, (client) => {
    const upstream = net.connect(Number(target.port), target.hostname);
    const end = () => {
      client.destroy();
      upstream.destroy();
      pairs.delete(end);
    };
    pairs.add(end);
    for (const socket of [client, upstream]) socket.on("error", end).on("close", end).setNoDelay();
    connect(client, upstream, end);
    client.resume();
  });

  function nextFault(request: Buffer): DatabaseFault {
    if (traps.length === 0) return "pass";
    const text = request.toString("latin1");
    const met = traps.find(({ trap, left }) => left > 0 && trap.pattern.test(text));
    if (!met) return "pass";
    if (met.skip > 0) {
      met.skip -= 1;
      return "pass";
    }
    met.left -= 1;
    hits += 1;
    return met.trap.fault;
  }

  function connect(client: Socket, upstream: Socket, end: () => void): void {
    /** The fault for the response to each pending request, oldest first. */
    const answers: (DatabaseFault | "swallow")[] = [];
    let order = Promise.resolve();

    const deliver = async (request: Buffer, expectsAnswer: boolean) => {
      const fault = nextFault(request);
      if (fault === "refuse") return outage();
      if (fault === "cut-before") return end();
      if (fault === "delay") await new Promise((resolve) => setTimeout(resolve, DELAY_MS));
      if (fault === "hold") await new Promise<void>((resolve) => held.push(resolve));
      if (expectsAnswer) answers.push(fault);
      if (!upstream.destroyed) upstream.write(request);
    };
    client.on(
      "data",
      readRequests((request, expectsAnswer) => {
        order = order.then(() => deliver(request, expectsAnswer));
      }),
    );
    upstream.on(
      "data",
      readAnswers((answer, isWhole) => {
        const fault = answers[0] ?? "pass";
        if (isWhole) answers.shift();
        if (fault === "swallow") return;
        if (fault === "forget" && isWhole) {
          answers.unshift("swallow");
          upstream.write(FORGET);
        }
        if (fault === "cut-after") return end();
        if (fault !== "half" && fault !== "garbage") return void client.write(answer);
        const torn = fault === "half" ? answer.subarray(0, Math.ceil(answer.length / 2)) : randomBytes(64);
        client.write(torn, end);
      }),
    );
  }

  function outage(): void {
    server.close();
    for (const end of [...pairs]) end();
    setTimeout(() => isStopped || server.listen(port, "127.0.0.1"), OUTAGE_MS);
  }

  let isStopped = false;
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const url = new URL(databaseUrl);
  url.host = `127.0.0.1:${port}`;
  return {
    url: url.href,
    get hits() {
      return hits;
    },
    set: (trap) => void traps.push({ trap, left: trap.times ?? 1, skip: trap.skip ?? 0 }),
    clear() {
      traps.length = 0;
      hits = 0;
    },
    release() {
      for (const go of held.splice(0)) go();
    },
    stop: () =>
      new Promise((resolve) => {
        isStopped = true;
        server.close(() => resolve());
        for (const end of [...pairs]) end();
      }),
  };
}

/** Splits a client's bytes into requests. The first messages of a connection have no type byte. */
function readRequests(onRequest: (request: Buffer, expectsAnswer: boolean) => void) {
  let rest = Buffer.alloc(0);
  let request: Buffer[] = [];
  let isStarting = true;
  return (chunk: Buffer) => {
    rest = Buffer.concat([rest, chunk]);
    for (;;) {
      const head = isStarting ? 0 : 1;
      if (rest.length < head + 4) return;
      const length = head + rest.readInt32BE(head);
      if (rest.length < length) return;
      const message = rest.subarray(0, length);
      rest = rest.subarray(length);
      if (isStarting) {
        isStarting = message.readInt32BE(4) === SSL_REQUEST;
        onRequest(message, false);
        continue;
      }
      request.push(message);
      const kind = message[0] as number;
      if (!ends.has(kind)) continue;
      onRequest(Buffer.concat(request), kind === "S".charCodeAt(0) || kind === "Q".charCodeAt(0));
      request = [];
    }
  };
}

/** Splits the database's bytes into responses, which end with "ready". Until the first one, it passes each message. */
function readAnswers(onAnswer: (answer: Buffer, isWhole: boolean) => void) {
  let rest = Buffer.alloc(0);
  let answer: Buffer[] = [];
  let isReady = false;
  return (chunk: Buffer) => {
    rest = Buffer.concat([rest, chunk]);
    // The reply to an SSLRequest is a single byte without a length.
    if (!isReady && rest.length === 1) {
      onAnswer(rest, false);
      rest = Buffer.alloc(0);
    }
    while (rest.length >= 5) {
      const length = 1 + rest.readInt32BE(1);
      if (rest.length < length) return;
      const message = rest.subarray(0, length);
      rest = rest.subarray(length);
      answer.push(message);
      const isEnd = message[0] === READY;
      if (!isEnd && isReady) continue;
      onAnswer(Buffer.concat(answer), isEnd && isReady);
      isReady ||= isEnd;
      answer = [];
    }
  };
}
