import type { ServerResponse } from "node:http";
import { pipeline } from "node:stream/promises";
import { type Endpoint, type ErrorCode, errorDefinition, refusalBody } from "@giftcard-pay/client/contract";
import type { RefusalDetails } from "./handler.js";

/** A body that is sent piece by piece. */
export interface StreamedBody {
  readonly pieces: AsyncIterable<string>;
  /** Called once, when the body is sent or has failed. */
  ended(): void;
}

export interface HttpAnswer {
  readonly status: number;
  readonly headers: Record<string, string>;
  /** Documents that are sent often are one buffer, which all their answers share. */
  readonly body: string | Buffer | StreamedBody;
}

export const JSON_TYPE = "application/json";

export const jsonAnswer = (status: number, value: unknown, headers: Record<string, string> = {}) =>
  textAnswer(status, JSON_TYPE, JSON.stringify(value), headers);

export const textAnswer = (
  status: number,
  type: string,
  body: string | Buffer,
  headers: Record<string, string> = {},
): HttpAnswer => ({ status, headers: { "Content-Type": type, ...headers }, body });

/**
 * Creates the HTTP answer of an error code.
 *
 * @param row the operation; undefined for an unknown path
 */
export function answerRefusal(
  row: Endpoint | undefined,
  code: ErrorCode,
  { faults, retryAfterSeconds, isUnread }: RefusalDetails = {},
): HttpAnswer {
  const headers: Record<string, string> = {};
  if (code === "invalid_credentials") headers["WWW-Authenticate"] = 'Basic charset="UTF-8"';
  if (code === "method_not_allowed" && row) headers.Allow = row.method === "GET" ? "GET, HEAD" : row.method;
  if (retryAfterSeconds !== undefined) headers["Retry-After"] = String(Math.ceil(retryAfterSeconds));
  if (isUnread) headers.Connection = "close";
  return jsonAnswer(errorDefinition(code).status, refusalBody(row, code, faults), headers);
}

/** Sends an answer. A streamed body that fails closes its connection. */
export async function sendAnswer(outgoing: ServerResponse, { status, headers, body }: HttpAnswer): Promise<void> {
  if (typeof body === "string" || Buffer.isBuffer(body)) {
    outgoing.writeHead(status, { ...headers, "Content-Length": Buffer.byteLength(body) });
    outgoing.end(body);
    return;
  }
  outgoing.writeHead(status, headers);
  try {
    await pipeline(body.pieces, outgoing);
  } catch {
    // The stream failed and logged it, or the client disconnected.
    outgoing.destroy();
  } finally {
    body.ended();
  }
}
