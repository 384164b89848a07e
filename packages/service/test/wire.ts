import { BASE_PATH, type EndpointName, endpoints } from "@giftcard-pay/client/contract";
import type { TestCard, TestCompany } from "../../../test/support/service.js";

/** An HTTP answer. */
export interface WireAnswer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  // biome-ignore lint/suspicious/noExplicitAny: tests inspect answers of any shape
  readonly body: any;
}

export type Encoding = "json" | "form";

export interface WireCall {
  readonly method?: string;
  readonly encoding?: Encoding;
  readonly headers?: Record<string, string>;
  /** Sent unchanged, instead of the encoded parameters. */
  readonly raw?: string | Uint8Array;
  readonly path?: string;
}

const CONTENT_TYPES = { json: "application/json", form: "application/x-www-form-urlencoded" };

/** Calls an operation. The parameters have the names of the API. */
export async function call(
  url: string,
  name: EndpointName,
  parameters: Record<string, unknown> = {},
  { method, encoding, headers = {}, raw, path }: WireCall = {},
): Promise<WireAnswer> {
  const row = endpoints[name];
  const bodyEncoding = encoding ?? row.encoding ?? "json";
  const body = raw ?? (row.encoding === null ? undefined : encode(parameters, bodyEncoding));
  const contentType: Record<string, string> = body === undefined ? {} : { "Content-Type": CONTENT_TYPES[bodyEncoding] };
  const response = await fetch(url + BASE_PATH + (path ?? row.path), {
    method: method ?? row.method,
    headers: { ...contentType, ...headers },
    ...(body === undefined ? {} : { body }),
  });
  const text = await response.text();
  return {
    status: response.status,
    headers: response.headers,
    text,
    body: text === "" ? undefined : JSON.parse(text),
  };
}

function encode(parameters: Record<string, unknown>, encoding: Encoding): string {
  if (encoding === "json") return JSON.stringify(parameters);
  return new URLSearchParams(
    Object.entries(parameters).map(([name, value]): [string, string] => [name, String(value)]),
  ).toString();
}

/** Returns the Authorization header of `authenticate`. */
export const basic = (email: string, password: string) => ({
  Authorization: `Basic ${Buffer.from(`${email}:${password}`, "utf8").toString("base64")}`,
});

/** Returns the parameters that identify the caller. */
export const credentials = ({ apiKey, companyId }: TestCompany) => ({
  apikey: apiKey,
  company_id: companyId,
});

/** Returns the parameters of `balance`. With an amount, they are those of `devalue`. */
export const onCard = (company: TestCompany, { cardNumber, pin }: TestCard) => ({
  ...credentials(company),
  cardnumber: cardNumber,
  pin,
});

/** Returns an event for `newevent` with only the required fields. */
export const eventInput = (providerId: number, more: Record<string, unknown> = {}) => ({
  eventprovider_id: String(providerId),
  event_name: "Nachtconcert",
  event_organiser: "Zaal BV",
  event_start_date: "2099-06-01",
  event_start_time: "20:30:00",
  ticket_link: "https://tickets.example.nl/1",
  ...more,
});
