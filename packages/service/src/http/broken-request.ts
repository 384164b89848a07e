import { randomUUID } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Duplex } from "node:stream";
import { type HttpAnswer, jsonAnswer } from "./answer.js";

/** Answers to requests that are not valid HTTP, by Node.js's error codes. */
const FAULTS: Record<string, Fault> = {
  HPE_HEADER_OVERFLOW: [431, "Request Header Fields Too Large", "The request headers are too large."],
  HPE_CHUNK_EXTENSIONS_OVERFLOW: [413, "Payload Too Large", "The request body is too large."],
  ERR_HTTP_REQUEST_TIMEOUT: [408, "Request Timeout", "The request did not arrive in time."],
};
const NOT_HTTP: Fault = [400, "Bad Request", "The request is not valid HTTP."];
type Fault = readonly [status: number, reason: string, error: string];

/** Answers a request that could not be parsed: invalid HTTP, headers that are too large, or a caller that is too slow. */
export function answerBrokenRequest(failure: NodeJS.ErrnoException, socket: Duplex): void {
  // If an answer has begun, a second one would be read as its continuation.
  const begun = (socket as { _httpMessage?: { headersSent: boolean } })._httpMessage?.headersSent;
  if (!socket.writable || begun || failure.code === "ECONNRESET") return void socket.destroy();
  socket.end(messageOf(FAULTS[failure.code ?? ""] ?? NOT_HTTP));
}

/** Rejects CONNECT, which only proxies support. */
export function answerConnect(socket: Duplex): void {
  socket.end(messageOf([405, "Method Not Allowed", "The service is no proxy."]));
}

/** Rejects an `Expect` header other than `100-continue`. */
export function answerExpectation(_request: IncomingMessage, response: ServerResponse): void {
  const body = JSON.stringify({ error: "The request expects something else than 100-continue." });
  response.writeHead(417, { ...headersOf(body) }).end(body);
}

/** Rejects a request with an invalid target, or without a valid Host header. */
export const answerNoAddress = (): HttpAnswer =>
  jsonAnswer(
    400,
    { error: "The request's address or its Host header is missing or not valid." },
    { Connection: "close" },
  );

function headersOf(body: string) {
  return {
    "Content-Type": "application/json",
    "X-Request-Id": randomUUID(),
    Connection: "close",
    "Content-Length": String(body.length),
  };
}

function messageOf([status, reason, error]: Fault): string {
  const body = JSON.stringify({ error });
  const headers = Object.entries(headersOf(body)).map(([name, value]) => `${name}: ${value}\r\n`);
  return `HTTP/1.1 ${status} ${reason}\r\n${headers.join("")}\r\n${body}`;
}
