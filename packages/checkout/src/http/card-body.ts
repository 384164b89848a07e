import { CheckoutError } from "../engine/errors.js";

const MAX_BODY_BYTES = 4096;

/**
 * Reads the small JSON object with a card. Errors never quote its text, as a parser's errors do.
 *
 * @param chunks the request's body; reading stops at the maximum length
 * @throws {CheckoutError} invalid_request
 */
export async function readCardBody(chunks: AsyncIterable<Uint8Array>): Promise<Record<string, unknown>> {
  const read: Uint8Array[] = [];
  let sizeBytes = 0;
  let body: unknown;
  try {
    for await (const chunk of chunks) {
      sizeBytes += chunk.byteLength;
      if (sizeBytes > MAX_BODY_BYTES) throw new CheckoutError("invalid_request");
      read.push(chunk);
    }
    body = JSON.parse(Buffer.concat(read).toString("utf8"));
  } catch {
    // Not JSON, too long, or the connection was closed early.
    throw new CheckoutError("invalid_request");
  }
  if (typeof body !== "object" || body === null || Array.isArray(body)) {
    throw new CheckoutError("invalid_request");
  }
  // PostgreSQL doesn't accept NUL in text.
  if (Object.values(body).some((value) => typeof value === "string" && value.includes("\0"))) {
    throw new CheckoutError("invalid_request");
  }
  return body as Record<string, unknown>;
}
