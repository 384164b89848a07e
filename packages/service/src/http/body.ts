import type { IncomingMessage } from "node:http";
import type { Endpoint, ErrorCode } from "@giftcard-pay/client/contract";
import type { BodyRoom } from "./body-room.js";

type BodyError = Extract<
  ErrorCode,
  "body_too_large" | "unsupported_media_type" | "unreadable_body" | "overloaded"
>;

/** A body that cannot be taken; the code says why. */
export class BodyRefusal {
  constructor(
    readonly code: BodyError,
    /** Its rest is not read, so that its connection can't be used again. */
    readonly isUnread = false,
  ) {}
}

/** Why a body did not come whole. */
const REFUSALS = {
  "too large": new BodyRefusal("body_too_large", true),
  "no room": new BodyRefusal("overloaded", true),
  "cut off": new BodyRefusal("unreadable_body"),
} as const;

/** What a caller sent, and the room that it takes: give it back when the call has been answered. */
export interface Parameters {
  readonly parameters: unknown;
  release(): void;
}

/**
 * Reads a request's parameters from JSON or a form, whichever it says it is. An operation without parameters
 * takes any body and looks at none of it.
 */
export async function readParameters(
  incoming: IncomingMessage,
  row: Endpoint,
  room: BodyRoom,
): Promise<Parameters> {
  if (row.method === "GET") return { parameters: {}, release: () => {} };
  const { body, release } = await readBytes(incoming, row.bodyLimitBytes, room);
  return { parameters: parametersOf(body, incoming, row), release };
}

function parametersOf(
  body: Buffer | keyof typeof REFUSALS,
  incoming: IncomingMessage,
  row: Endpoint,
): unknown {
  // Too large comes before the wrong type.
  if (typeof body === "string") return REFUSALS[body];
  if (row.encoding === null) return {};
  const { "content-type": contentType, "content-encoding": contentEncoding } = incoming.headers;
  const mediaType = contentType?.split(";", 1)[0]?.trim().toLowerCase();
  if (contentEncoding && contentEncoding !== "identity") return new BodyRefusal("unsupported_media_type");
  if (mediaType === undefined && body.length === 0) return {};
  if (mediaType === "application/json") return parse(body, JSON.parse);
  if (mediaType === "application/x-www-form-urlencoded" && row.formAllowed) return parse(body, parseForm);
  return new BodyRefusal("unsupported_media_type");
}

/** How long the sender of a body that is not read has to read the answer before the connection ends. */
const LINGER_MS = 1000;

/** A body is kept in blocks of this size: in the pieces that it came in, each byte could cost a hundred. */
const BLOCK_BYTES = 64 * 1024;
/** The first block of a body that doesn't say how long it is. */
const FIRST_BYTES = 4 * 1024;

interface ReadBody {
  readonly body: Buffer | keyof typeof REFUSALS;
  /** Gives its room back. */
  release(): void;
}

/** Reads a body, and never past the limit. */
function readBytes(incoming: IncomingMessage, limitBytes: number, room: BodyRoom): Promise<ReadBody> {
  return new Promise((resolve) => {
    let blocks: Buffer[] = [];
    let [keptBytes, blockBytes, length] = [0, 0, 0];
    const share = room.open(() => stop("no room"));
    const finish = (body: Buffer | keyof typeof REFUSALS) => {
      // What is kept goes now, and not only with its connection.
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
    /** @returns false where there is no room */
    const addBlock = () => {
      const wantedBytes =
        announcedBytes > 0 ? announcedBytes - keptBytes : keptBytes > 0 ? BLOCK_BYTES : FIRST_BYTES;
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
    // The caller went away in the middle; nobody reads what we answer.
    incoming.once("error", () => finish("cut off"));
    incoming.once("close", () => finish("cut off"));
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

/** Far more than any operation has. Each costs: a body full of them would hold up all other calls. */
const MOST_FIELDS = 1000;

const count = (text: string, pattern: RegExp) => text.match(pattern)?.length ?? 0;

/** A field that is sent twice counts as its last, as PHP reads it. Escapes that are no UTF-8 are no text. */
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
