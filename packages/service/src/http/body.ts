import type { IncomingMessage } from "node:http";
import type { Endpoint, ErrorCode } from "@giftcard-pay/client/contract";

type BodyError = Extract<ErrorCode, "body_too_large" | "unsupported_media_type" | "unreadable_body">;

/** A body that cannot be taken; the code says why. */
export class BodyRefusal {
  constructor(readonly code: BodyError) {}
}

/**
 * Reads a request's parameters from JSON or a form, whichever it says it is. An operation without parameters
 * takes any body and looks at none of it.
 */
export async function readParameters(incoming: IncomingMessage, row: Endpoint): Promise<unknown> {
  if (row.method === "GET") return {};
  // Too large comes before the wrong type.
  const body = await readBytes(incoming, row.bodyLimitBytes);
  if (body === "too large") return new BodyRefusal("body_too_large");
  if (body === "cut off") return new BodyRefusal("unreadable_body");
  if (row.encoding === null) return {};
  const { "content-type": contentType, "content-encoding": contentEncoding } = incoming.headers;
  const mediaType = contentType?.split(";", 1)[0]?.trim().toLowerCase();
  if (contentEncoding && contentEncoding !== "identity") return new BodyRefusal("unsupported_media_type");
  if (mediaType === undefined && body.length === 0) return {};
  if (mediaType === "application/json") return parse(body, JSON.parse);
  if (mediaType === "application/x-www-form-urlencoded" && row.formAllowed) return parse(body, parseForm);
  return new BodyRefusal("unsupported_media_type");
}

/** How long the sender of a body that is too large has to read the answer before the connection ends. */
const LINGER_MS = 1000;

/** Reads a body, and never past the limit. */
async function readBytes(
  incoming: IncomingMessage,
  limitBytes: number,
): Promise<Buffer | "too large" | "cut off"> {
  if (Number(incoming.headers["content-length"] ?? 0) > limitBytes) {
    leaveUnread(incoming);
    return "too large";
  }
  const chunks: Buffer[] = [];
  let length = 0;
  return new Promise((resolve) => {
    incoming.on("data", (chunk: Buffer) => {
      length += chunk.length;
      if (length <= limitBytes) return void chunks.push(chunk);
      leaveUnread(incoming);
      resolve("too large");
    });
    incoming.once("end", () => resolve(Buffer.concat(chunks)));
    // The caller went away in the middle; nobody reads what we answer.
    incoming.once("error", () => resolve("cut off"));
    incoming.once("close", () => resolve("cut off"));
  });
}

/**
 * Reads no more of a body. The connection is not simply closed: with bytes unread that would reset it, and the answer
 * could be lost on its way.
 */
function leaveUnread(incoming: IncomingMessage): void {
  const { socket } = incoming;
  incoming.removeAllListeners("data");
  incoming.on("error", () => {});
  incoming.pause();
  // A body that nobody has begun to read is thrown away after the answer, which would read all of it.
  incoming.read(0);
  socket.destroySoon = () => {
    socket.end();
    setTimeout(() => socket.destroy(), LINGER_MS).unref();
  };
}

const utf8 = new TextDecoder("utf-8", { fatal: true });

function parse(body: Buffer, read: (text: string) => unknown): unknown {
  try {
    return read(utf8.decode(body));
  } catch {
    return new BodyRefusal("unreadable_body");
  }
}

/** What decoding leaves where bytes are no UTF-8; somebody may also have written it. */
const REPLACEMENT = /\ufffd/g;
const WRITTEN_REPLACEMENT = /\ufffd|%EF%BF%BD/gi;
/** As JSON can hold it too: no field that is text takes it. */
const HALF_A_CHARACTER = "\ud800";

const count = (text: string, pattern: RegExp) => text.match(pattern)?.length ?? 0;

/** A field that is sent twice counts as its last, as PHP reads it. Escapes that are no UTF-8 are no text. */
function parseForm(text: string): Record<string, string> {
  const pairs = [...new URLSearchParams(text)];
  const fields = Object.fromEntries(pairs);
  const decoded = count(pairs.flat().join(), REPLACEMENT);
  if (decoded === 0 || decoded === count(text, WRITTEN_REPLACEMENT)) return fields;
  const entries = Object.entries(fields).map(([name, value]) => [
    name,
    value.includes("\ufffd") ? HALF_A_CHARACTER : value,
  ]);
  return Object.fromEntries(entries);
}
