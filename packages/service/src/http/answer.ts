import type { ServerResponse } from "node:http";
import { pipeline } from "node:stream/promises";

/** A body that leaves piece by piece. */
export interface StreamedBody {
  readonly pieces: AsyncIterable<string>;
  /** Called once, when nothing of it leaves any more, whichever way that came. */
  ended(): void;
}

/** What goes out. */
export interface HttpAnswer {
  readonly status: number;
  readonly headers: Record<string, string>;
  readonly body: string | StreamedBody;
}

export const JSON_TYPE = "application/json";

/** An answer in JSON. */
export const jsonAnswer = (status: number, value: unknown, headers: Record<string, string> = {}) =>
  textAnswer(status, JSON_TYPE, JSON.stringify(value), headers);

/** An answer that is known whole. */
export const textAnswer = (
  status: number,
  type: string,
  body: string,
  headers: Record<string, string> = {},
): HttpAnswer => ({ status, headers: { "Content-Type": type, ...headers }, body });

/** Sends an answer: head and body in one write where the body is known. A body that fails ends its connection. */
export async function sendAnswer(
  outgoing: ServerResponse,
  { status, headers, body }: HttpAnswer,
): Promise<void> {
  if (typeof body === "string") {
    outgoing.writeHead(status, { ...headers, "Content-Length": Buffer.byteLength(body) });
    outgoing.end(body);
    return;
  }
  outgoing.writeHead(status, headers);
  try {
    await pipeline(body.pieces, outgoing);
  } catch {
    // Whoever makes the pieces has told why; or the caller has gone.
    outgoing.destroy();
  } finally {
    body.ended();
  }
}
