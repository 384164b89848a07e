import * as z from "zod/mini";
import { BASE_PATH, type Endpoint, type EndpointName, endpoints, IDEMPOTENCY_KEY_HEADER } from "./endpoints.js";
import { type ErrorCode, errorDefinition } from "./error-codes.js";
import { refusalBody } from "./refusal-body.js";

type Json = Record<string, unknown>;

const FORM = "application/x-www-form-urlencoded";
const JSON_TYPE = "application/json";

/** The statuses of refusals with a Retry-After header. */
const RETRY_AFTER_STATUSES: readonly number[] = [429, 503];

/**
 * Builds the OpenAPI 3.1 document from the table of operations, with full paths.
 *
 * @param service the service's version, and its address if the document is served from another one
 */
export function openApiDocument({ version, serverUrl = "/" }: { version: string; serverUrl?: string }) {
  const paths = Object.entries(endpoints).map(([name, row]) => [
    BASE_PATH + row.path,
    { [row.method.toLowerCase()]: operation(name as EndpointName, row) },
  ]);
  return {
    openapi: "3.1.1",
    info: {
      title: "Gift card payment and event listing service",
      version,
      license: { name: "MIT", identifier: "MIT" },
      description:
        "Amounts are whole cents (euro). Every operation but `authenticate` and `get_providers` carries `apikey` in " +
        "its body. In JSON, integers are accepted as decimal strings too, as a form writes them.",
    },
    servers: [{ url: serverUrl }],
    tags: [{ name: "Session" }, { name: "Events" }, { name: "Gift cards" }],
    paths: Object.fromEntries(paths),
    components: {
      securitySchemes: {
        account: {
          type: "http",
          scheme: "basic",
          description: "Email and password of the account, in UTF-8.",
        },
      },
      headers: {
        RequestId: { description: "The id of this call in the service's log.", schema: { type: "string" } },
        Environment: {
          description: "Whether this service moves money, or is for tests.",
          schema: { type: "string", enum: ["live", "sandbox"] },
        },
        RetryAfter: { description: "Seconds to wait before the next call.", schema: { type: "integer" } },
        IdempotencyKey: {
          description: "The call's key, echoed: the service honours it.",
          schema: { type: "string" },
        },
        IdempotencyReplayed: {
          description: "`true` if this is the stored response of an earlier call with the key.",
          schema: { type: "string", enum: ["true"] },
        },
      },
    },
  };
}

function operation(name: EndpointName, row: Endpoint): Json {
  const parameters = honoursKey(row) ? { parameters: [keyParameter(row)] } : {};
  return {
    operationId: name,
    summary: row.summary,
    tags: [tagOf(row)],
    security: row.auth === "basic" ? [{ account: [] }] : [],
    ...parameters,
    ...(row.encoding === null ? {} : { requestBody: requestBody(row) }),
    responses: { 200: answer(row), ...refusals(row) },
  };
}

const tagOf = (row: Endpoint) => (row.auth === "basic" ? "Session" : row.auth === "company" ? "Gift cards" : "Events");

const honoursKey = (row: Endpoint) => row.errors.includes("idempotency_key_invalid");

const keyParameter = (row: Endpoint): Json => ({
  name: IDEMPOTENCY_KEY_HEADER,
  in: "header",
  required: false,
  description: row.idempotent
    ? "Makes the call safe to repeat: for 24 hours the same key with the same parameters returns the same response. Use " +
      "a random key, such as a UUID: with the company's API key, whoever guesses a devalue's key can reverse it."
    : "Without `cancel_token`: resolves the devalue that was sent with this key. It is reversed, or will never be done.",
  schema: { type: "string", pattern: "^[\\x21-\\x7e]{1,255}$" },
  example: "f3b0c442-98fc-4c14-9afb-f4c8996fb924",
});

function requestBody(row: Endpoint): Json {
  const media = { schema: wireSchema(row.request) };
  const types = row.formAllowed ? [FORM, JSON_TYPE] : [JSON_TYPE];
  return { required: true, content: Object.fromEntries(types.map((type) => [type, media])) };
}

const answer = (row: Endpoint): Json => ({
  description: "Done.",
  headers: { ...requestId, ...(honoursKey(row) && keyEcho), ...(row.idempotent && replayed) },
  content: { [JSON_TYPE]: { schema: wireSchema(row.response) } },
});

const component = (name: string) => ({ $ref: `#/components/headers/${name}` });
const requestId = {
  "X-Request-Id": component("RequestId"),
  "Giftcard-Environment": component("Environment"),
};
const keyEcho = { "Idempotency-Key": component("IdempotencyKey") };
const replayed = { "Idempotency-Replayed": component("IdempotencyReplayed") };
const retryAfter = { "Retry-After": component("RetryAfter") };

/** Lists the operation's errors, grouped by status. */
function refusals(row: Endpoint): Json {
  const byStatus = new Map<number, ErrorCode[]>();
  for (const code of row.errors) {
    const { status } = errorDefinition(code);
    byStatus.set(status, [...(byStatus.get(status) ?? []), code]);
  }
  return Object.fromEntries([...byStatus].map(([status, codes]) => [status, refusal(row, status, codes)]));
}

function refusal(row: Endpoint, status: number, codes: readonly ErrorCode[]): Json {
  const bodies = codes.map((code) => refusalBody(row, code, [{ path: "apikey", message: "must not be empty" }]));
  const names = [...new Set(bodies.flatMap((body) => Object.keys(body)))];
  const always = names.filter((name) => bodies.every((body) => name in body));
  const examples = codes.map((code, index) => [code, { summary: errorDefinition(code).message, value: bodies[index] }]);
  const schema = {
    type: "object",
    required: always,
    properties: Object.fromEntries(names.map((name) => [name, refusalFields[name]])),
  };
  return {
    description: codes.map((code) => errorDefinition(code).message).join(" Or: "),
    headers: { ...requestId, ...(RETRY_AFTER_STATUSES.includes(status) && retryAfter) },
    content: { [JSON_TYPE]: { schema, examples: Object.fromEntries(examples) } },
  };
}

const refusalFields: Record<string, Json> = {
  success: { type: "boolean", const: false },
  error: { type: "string" },
  message: { type: "string" },
  card_status: { type: "string" },
  result_code: { type: "integer" },
  required: { type: "array", items: { type: "string" } },
  errors: {
    type: "array",
    items: {
      type: "object",
      required: ["path", "message"],
      properties: { path: { type: "string" }, message: { type: "string" } },
    },
  },
};

/** Returns the JSON schema of the encoded form: the input of a codec. */
function wireSchema(schema: z.ZodMiniType): Json {
  const { $schema: _, ...wire } = z.toJSONSchema(schema, {
    io: "input",
    unrepresentable: "any",
    override: ({ jsonSchema }) => {
      // JavaScript's integer bounds are not part of the interface.
      if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum;
      if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
    },
  });
  return wire;
}
