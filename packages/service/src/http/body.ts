import type { IncomingMessage } from "node:http";
import type { Endpoint, ErrorCode } from "@giftcard-pay/client/contract";
import type { BodyRoom } from "./body-room.js";

type BodyError = Extract<ErrorCode, "body_too_large" | "unsupported_media_type" | "unreadable_body" | "overloaded">;

/** A rejected body, with the reason as a code. */
export class BodyRefusal {
  constructor(
    readonly code: BodyError,
    /** Whether a part of it is not read, so that the connection must be closed. */
    readonly isUnread = false,
  ) {}
}

const REFUSALS = {
  "too large": new BodyRefusal("body_too_large", true),
  "no room": new BodyRefusal("overloaded", true),
  "cut off": new BodyRefusal("unreadable_body"),
} as const;

/**
 * Reads a request's parameters from JSON or a form. For an operation without parameters, ignores any body.
 *
 * @returns the parameters or a {@link BodyRefusal}. `release` frees their room, and must be called when the call is answered
 */
export async function readParameters(incoming: IncomingMessage, row: Endpoint, room: BodyRoom) {
  if (row.method === "GET") return { parameters: {}, release: () => {} };
  const { body, release } = await readBytes(incoming, row.bodyLimitBytes, room);
  return { parameters: parametersOf(body, incoming, row), release };
}

/** Charsets whose ASCII text is not UTF-8. Text in other charsets is accepted if it is UTF-8 too, since some callers always name one. */
const WIDE_CHARSET = /;\s*charset\s*=\s*"?(?:utf-?(?:16|32)|ucs-?[24])/i;

function parametersOf(body: Buffer | keyof typeof REFUSALS, incoming: IncomingMessage, row: Endpoint): unknown {
  // The size is judged before the type.
  if (typeof body === "string") return REFUSALS[body];
  if (row.encoding === null) return {};
  const { "content-type": contentType, "content-encoding": contentEncoding } = incoming.headers;
  const mediaType = contentType?.split(";", 1)[0]?.trim().toLowerCase();
  if (WIDE_CHARSET.test(contentType ?? "")) return new BodyRefusal("unsupported_media_type");
  if (contentEncoding && contentEncoding !== "identity") return new BodyRefusal("unsupported_media_type");
  if (mediaType === undefined && body.length === 0) return {};
  if (mediaType === "application/json") return parse(body, JSON.parse);
  if (mediaType === "application/x-www-form-urlencoded" && row.formAllowed) return parse(body, parseForm);
  return new BodyRefusal("unsupported_media_type");
}

/** How long the sender of an unread body has to read the answer before the connection is closed. */
const LINGER_MS = 1000;

/** A body is stored in blocks of this size: stored as it arrives, each byte could cost a hundred. */
const BLOCK_BYTES = 64 * 1024;
/** The size of the first block if the length of the body is not announced. */
const FIRST_BYTES = 4 * 1024;

function readBytes(
  incoming: IncomingMessage,
  limitBytes: number,
  room: BodyRoom,
): Promise<{ body: Buffer | keyof typeof REFUSALS; release: () => void }> {
  return new Promise((resolve) => {
    let blocks: Buffer[] = [];
    let [keptBytes, blockBytes, length] = [0, 0, 0];
    const share = room.open(() => stop("no room"));
    const finish = (body: Buffer | keyof typeof REFUSALS) => {
      // Frees the memory now, even if the connection stays open.
      blocks = [];
      resolve({ body, release: share.release });
    };
    const stop = (why: "too large" | "no room") => {
      leaveUnread(incoming);
      share.release();
      finish(why);
    };
    const announcedBytes = Number(incoming.headers["content-length"] ?? 0);
    if (announcedBytes > limitBytes) return stop("too large");
    /** @returns false if there is no room */
    const addBlock = () => {
      const wantedBytes = announcedBytes > 0 ? announcedBytes - keptBytes : keptBytes > 0 ? BLOCK_BYTES : FIRST_BYTES;
      const size = Math.min(Math.max(wantedBytes, 1), BLOCK_BYTES);
      if (!share.grow(keptBytes + size)) return false;
      blocks.push(Buffer.allocUnsafe(size));
      keptBytes += size;
      blockBytes = 0;
      return true;
    };
    incoming.on("data", (chunk: Buffer) => {
      if (length + chunk.length > limitBytes) return stop("too large");
      for (let taken = 0; taken < chunk.length; ) {
        if (length === keptBytes && !addBlock()) return stop("no room");
        const copied = chunk.copy(blocks.at(-1) as Buffer, blockBytes, taken);
        blockBytes += copied;
        taken += copied;
        length += copied;
      }
    });
    incoming.once("end", () => {
      share.arrived();
      finish(Buffer.concat(blocks, length));
    });
    // The caller disconnected, so nobody reads the answer.
    incoming.once("error", () => finish("cut off"));
    incoming.once("close", () => finish("cut off"));
  });
}

/**
 * Stops reading a body. Closing the connection with unread bytes would reset it, and the answer could be lost: so the
 * connection stays open for a moment after the answer.
 */
function leaveUnread(incoming: IncomingMessage): void {
  const { socket } = incoming;
  incoming.removeAllListeners("data");
  incoming.on("error", () => {});
  incoming.pause();
  // Node.js reads and discards a body that was never read from. This read prevents that.
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

/** The replacement for bytes that are not UTF-8. Callers may also send the character itself. */
const REPLACEMENT = /\ufffd/g;
const WRITTEN_REPLACEMENT = /\ufffd|%EF%BF%BD/gi;
/** Half a surrogate pair, which every text field rejects. */
const HALF_A_CHARACTER = "\ud800";

/** More than any operation has. Without a limit, parsing a body full of fields would block all other calls. */
const MOST_FIELDS = 1000;

const count = (text: string, pattern: RegExp) => text.match(pattern)?.length ?? 0;

/** Parses a form. Of repeated fields the last counts, as in PHP. A field with escapes that are not UTF-8 becomes invalid. */
function parseForm(text: string): Record<string, string> {
  if (text.split("&", MOST_FIELDS + 1).length > MOST_FIELDS) throw new RangeError("too many fields");
  const form = new URLSearchParams(text);
  const fields = Object.fromEntries(form);
  if (!text.includes("%")) return fields;
  const decoded = count([...form].flat().join(), REPLACEMENT);
  if (decoded === 0 || decoded === count(text, WRITTEN_REPLACEMENT)) return fields;
  const entries = Object.entries(fields).map(([name, value]) => [
    name,
    value.includes("\ufffd") ? HALF_A_CHARACTER : value,
  ]);
  return Object.fromEntries(entries);
}
