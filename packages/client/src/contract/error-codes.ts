/** A refusal as the API shows it. */
interface ErrorDefinition {
  /** The HTTP status. */
  readonly status: 400 | 401 | 404 | 405 | 409 | 413 | 415 | 422 | 429 | 500 | 503;
  /** The text of `error`. It never says whether the card number or the PIN was wrong. */
  readonly message: string;
  /** The value of `card_status`. */
  readonly cardStatus?: string;
  /** The value of `result_code`, which only balance has. */
  readonly resultCode?: number;
}

/**
 * All refusals of a service: the closed list for service, client, shop and widget. A response contains no code, only
 * status, `card_status` and `result_code`. {@link readErrorCode} derives the code from them.
 */
export const errorDefinitions = {
  invalid_request: { status: 422, message: "Required fields are missing or invalid." },
  idempotency_key_invalid: {
    status: 422,
    message: "The Idempotency-Key header must be 1 to 255 visible ASCII characters.",
  },
  idempotency_key_reused: {
    status: 422,
    message: "This Idempotency-Key was used with other parameters. Use a new key for a new request.",
  },
  idempotency_key_spent: {
    status: 422,
    message: "This Idempotency-Key was used more than 24 hours ago. Use a new key for a new request.",
  },
  unreadable_body: { status: 400, message: "The request body cannot be read." },
  body_too_large: { status: 413, message: "The request body is too large." },
  unsupported_media_type: {
    status: 415,
    message:
      "Send application/json, or application/x-www-form-urlencoded where the operation takes a form. PHP's cURL sends " +
      "a form when CURLOPT_POSTFIELDS is http_build_query($fields), not the array itself.",
  },
  not_found: { status: 404, message: "There is no such operation." },
  method_not_allowed: { status: 405, message: "This operation does not take this method." },
  invalid_credentials: { status: 401, message: "The email or password is incorrect." },
  unauthorized: { status: 401, message: "Authentication failed." },
  rate_limited: { status: 429, message: "Too many requests. Try again later." },
  card_locked: {
    status: 429,
    message: "Too many failed attempts with this card. Try again later.",
    resultCode: 9,
  },
  invalid_card: { status: 400, message: "The card number or PIN is not valid.", resultCode: 5 },
  card_blocked: { status: 400, message: "The card is not active.", cardStatus: "Blocked" },
  card_expired: { status: 400, message: "The card has expired.", cardStatus: "Expired" },
  card_no_balance: { status: 400, message: "The card has no balance.", cardStatus: "No balance" },
  card_not_active: { status: 400, message: "The card is not active." },
  token_invalid: { status: 404, message: "The cancel token is not valid." },
  token_used: { status: 409, message: "The cancel token has already been used." },
  devalue_not_done: {
    status: 404,
    message: "No devalue carried this Idempotency-Key, and none will: the key is closed.",
  },
  key_closed: { status: 409, message: "This Idempotency-Key was ended. Nothing was deducted." },
  overloaded: { status: 503, message: "The service is busy. Try again later." },
  internal: { status: 500, message: "The service failed. The request id finds the cause in its log." },
} as const satisfies Record<string, ErrorDefinition>;

/** A code of this list. */
export type ErrorCode = keyof typeof errorDefinitions;

/** Returns a code's definition. Its type includes the optional fields. */
export function errorDefinition(code: ErrorCode): ErrorDefinition {
  return errorDefinitions[code];
}

/**
 * Derives the code of a refusal from its status, then `card_status` and `result_code`, then the order in which the operation
 * lists its errors.
 *
 * @returns the code; undefined if the operation lists no error with this status
 */
export function readErrorCode(
  listed: readonly ErrorCode[],
  status: number,
  body: { card_status?: unknown; result_code?: unknown },
): ErrorCode | undefined {
  const candidates = listed.filter((code) => errorDefinitions[code].status === status);
  if (typeof body.card_status === "string") {
    const cardStatus = body.card_status.toLowerCase();
    const byStatus = candidates.find((code) => errorDefinition(code).cardStatus?.toLowerCase() === cardStatus);
    return byStatus ?? (candidates.includes("card_not_active") ? "card_not_active" : candidates[0]);
  }
  if (body.result_code !== undefined) {
    const byResult = candidates.find((code) => errorDefinition(code).resultCode === Number(body.result_code));
    if (byResult) return byResult;
  }
  return candidates[0];
}
