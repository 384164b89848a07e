import type { ServerResponse } from "node:http";
import { pipeline } from "node:stream/promises";

/** A body that is sent piece by piece. */
export interface StreamedBody {
  readonly pieces: AsyncIterable<string>;
  /** Called once, when the body is sent or has failed. */
  ended(): void;
}

/** An HTTP answer. */
export interface HttpAnswer {
  readonly status: number;
  readonly headers: Record<string, string>;
  /** Documents that are sent often are one buffer, which all their answers share. */
  readonly body: string | Buffer | StreamedBody;
}

export const JSON_TYPE = "application/json";

/** Creates an answer in JSON. */
export const jsonAnswer = (status: number, value: unknown, headers: Record<string, string> = {}) =>
  textAnswer(status, JSON_TYPE, JSON.stringify(value), headers);

/** Creates an answer with a complete body. */
export const textAnswer = (
  status: number,
  type: string,
  body: string | Buffer,
  headers: Record<string, string> = {},
): HttpAnswer => ({ status, headers: { "Content-Type": type, ...headers }, body });

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
