import * as z from "zod/mini";
import {
  type Endpoint,
  type EndpointName,
  endpoints,
  idempotencyKeyPattern,
  type RequestOf,
  type ResponseOf,
  type Secret,
} from "./contract/index.js";
import { type Deadline, startDeadline } from "./deadline.js";
import { type Fault, RefusedError } from "./errors.js";
import { type Answer, readItems, readWhole } from "./exchange.js";
import { readAnswer, unexpected } from "./judge.js";
import { isTimeout, type Settings } from "./options.js";
import { createTransport } from "./transport.js";

/** Options of every call. */
export interface CallOptions {
  /** Aborts the call. The outcome of a write is then unknown. */
  readonly signal?: AbortSignal | undefined;
  /** Timeout of the whole call in milliseconds, retries and waits included. Default: the client's. */
  readonly timeoutMs?: number | undefined;
}

/** An operation's arguments: its request without the fields that the client adds. */
type ArgumentsOf<N extends EndpointName> = Omit<RequestOf<N>, "apiKey" | "companyId">;

/** Makes calls: validates the arguments, adds the API key, sends the request, and validates the response. */
export interface Caller {
  call<N extends EndpointName, T = ResponseOf<N>>(
    endpoint: N,
    args: ArgumentsOf<N>,
    options?: CallOptions & { readonly reference?: string | undefined },
    judge?: (answer: Answer) => T,
  ): Promise<T>;
  /** Calls a list, and yields its items as they arrive. */
  each<N extends ListName>(endpoint: N, options?: CallOptions): AsyncGenerator<ItemOf<N>, void, undefined>;
  /** Calls `authenticate` with this Authorization header. */
  authenticate(authorization: string, options?: CallOptions): Promise<Secret>;
}

/** The operations whose response is a list of any length. */
type ListName = "listEvents" | "listEventConcepts";
type ItemOf<N extends ListName> = ResponseOf<N>[number];

/** Creates the caller of one service. */
export function createCaller(settings: Settings): Caller {
  const send = createTransport(settings);
  const start = (endpoint: EndpointName, { signal, timeoutMs = settings.timeoutMs }: CallOptions): Deadline => {
    if (!isTimeout(timeoutMs)) throw invalid(endpoint, "timeoutMs", "must be a whole number, 1 or more");
    return startDeadline(timeoutMs, signal);
  };
  const withDeadline = async <T>(
    endpoint: EndpointName,
    options: CallOptions,
    work: (deadline: Deadline) => Promise<T>,
  ): Promise<T> => {
    const deadline = start(endpoint, options);
    try {
      return await work(deadline);
    } finally {
      deadline.end();
    }
  };

  return {
    authenticate: (authorization, options = {}) =>
      withDeadline("authenticate", options, (deadline) =>
        send(
          { endpoint: "authenticate", authorization },
          deadline,
          async (answer) => readAnswer("authenticate", await readWhole(answer, deadline)).apiKey,
        ),
      ),

    async call(endpoint, args, { reference, ...options } = {}, judge) {
      const fields = encode(endpoint, args, settings);
      if (reference !== undefined && !(typeof reference === "string" && idempotencyKeyPattern.test(reference))) {
        throw invalid(endpoint, "reference", "must be 1 to 255 visible ASCII characters");
      }
      const read = judge ?? ((answer: Answer) => readAnswer(endpoint, answer) as never);
      const request = { endpoint, fields, idempotencyKey: reference };
      return withDeadline(endpoint, options, (deadline) =>
        send(request, deadline, async (answer) => read(await readWhole(answer, deadline))),
      );
    },

    async *each(endpoint, options = {}) {
      const { element } = endpoints[endpoint].response.def;
      const request = { endpoint, fields: encode(endpoint, {}, settings) };
      const deadline = start(endpoint, options);
      try {
        const answer = await send(request, deadline, async (answer) => {
          if (answer.head.status >= 400) readAnswer(endpoint, await readWhole(answer, deadline));
          return answer;
        });
        for await (const item of readItems(answer, deadline)) {
          const read = z.safeDecode(element, item as never);
          if (!read.success) throw unexpected(answer.head);
          yield read.data as ItemOf<typeof endpoint>;
        }
      } finally {
        deadline.end();
      }
    },
  };
}

/** Encodes the arguments under their API names. Refuses invalid ones before anything is sent. */
function encode(endpoint: EndpointName, args: object, { apiKey, companyId }: Settings): Record<string, unknown> {
  const row: Endpoint = endpoints[endpoint];
  if (row.auth !== "none" && !apiKey) throw invalid(endpoint, "apikey", "the client was made without apiKey");
  if (row.auth === "company" && companyId === undefined) {
    throw invalid(endpoint, "company_id", "the client was made without companyId");
  }
  const written = z.safeEncode(row.request, {
    ...args,
    ...(row.auth === "none" ? {} : { apiKey }),
    ...(row.auth === "company" ? { companyId } : {}),
  });
  if (written.success) return written.data as Record<string, unknown>;
  throw new RefusedError("invalid_request", { endpoint, faults: written.error.issues.map(faultOf) });
}

/** Converts an issue. Zod's messages contain types and limits, never values. */
function faultOf(issue: z.core.$ZodIssue): Fault {
  return { path: issue.path.join(".") || "request", message: issue.message };
}

function invalid(endpoint: EndpointName, path: string, message: string): RefusedError {
  return new RefusedError("invalid_request", { endpoint, faults: [{ path, message }] });
}
