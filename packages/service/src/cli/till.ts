import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import {
  ENVIRONMENT_HEADER,
  type Fault,
  formatCents,
  IDEMPOTENCY_KEY_HEADER,
  IDEMPOTENCY_REPLAYED_HEADER,
  idempotencyKeyPattern,
  MAX_AMOUNT_CENTS,
  Secret,
} from "@giftcard-pay/client/contract";
import { Command, InvalidArgumentError, Option } from "commander";
import { pathTo, type TillOperation } from "../operations.js";
import { exitCodes, OperatorError } from "../operator-error.js";
import { addCardNumber, readCardNumber } from "./card-argument.js";
import { type Output, outputOf, wholeCents, wholeNumber } from "./output.js";
import { closeStdin, readLine } from "./stdin.js";

interface TillOptions {
  readonly url: string;
  readonly amount?: number;
  readonly keyStdin: boolean;
  readonly idempotencyKey?: string;
  readonly wait: number;
  readonly json: boolean;
}

const ANSWER_TIMEOUT_MS = 10_000;
const PAUSE_MS = 1000;
const LOOPBACK = /^(localhost|127(\.\d+){3}|\[::1\])$/;

/** Parses the service's address. API key and card number are in the body, so only this machine is reached without TLS. */
function serviceUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const isSafe = url?.protocol === "https:" || (url?.protocol === "http:" && LOOPBACK.test(url.hostname));
  if (!url || !isSafe || url.username || url.search || url.hash)
    throw new InvalidArgumentError("Give an https address without user, query and fragment.");
  return url.href.replace(/\/+$/, "");
}

function idempotencyKey(text: string): string {
  if (!idempotencyKeyPattern.test(text)) throw new InvalidArgumentError("Give 1 to 255 visible ASCII characters.");
  return text;
}

/** A command that a till runs. It needs no database, only the service's address. */
const tillCommand = (name: string, description: string, operation: TillOperation): Command =>
  addCardNumber(new Command(name).description(description))
    .requiredOption("--url <address>", "the service's address", serviceUrl)
    .addOption(
      new Option("--amount <cents>", "the amount in cents; for an activation only if the card was issued without one")
        .argParser(wholeCents(MAX_AMOUNT_CENTS))
        .makeOptionMandatory(operation === "topUp"),
    )
    .option(
      "--key-stdin",
      "read the till's key from the first line of standard input (or set GIFTCARD_TILL_KEY)",
      false,
    )
    .option(
      "--idempotency-key <key>",
      "repeats an earlier command with this key, without doing it twice",
      idempotencyKey,
    )
    .option("--wait <seconds>", "repeat for this time if the service does not answer", wholeNumber(0, 3600), 30)
    .option("--json", "print the answer as one JSON value", false)
    .addHelpText(
      "after",
      "\nIf the outcome stays unknown, run the command again with the --idempotency-key that it printed.\n" +
        `Exits with ${exitCodes.conflict} if the service refuses, and with ${exitCodes.failed} if the outcome is unknown.`,
    )
    .action(async (argument: string | undefined, options: TillOptions) => {
      try {
        await loadCard(operation, argument, options);
      } finally {
        closeStdin();
      }
    });

async function loadCard(operation: TillOperation, argument: string | undefined, options: TillOptions): Promise<void> {
  const given = options.keyStdin ? await readLine("the till's key") : process.env.GIFTCARD_TILL_KEY;
  if (!given) throw new OperatorError("Give the till's key: --key-stdin or GIFTCARD_TILL_KEY.", exitCodes.usage);
  const apiKey = new Secret(given);
  const cardNumber = await readCardNumber(argument);
  if (!cardNumber) throw new OperatorError("Give the card number, `-` or GIFTCARD_CARDNUMBER.", exitCodes.usage);
  const key = options.idempotencyKey ?? `till_${randomUUID()}`;
  // Printed before the call: a killed command can be repeated with it.
  if (options.idempotencyKey === undefined) process.stderr.write(`idempotency key: ${key}\n`);
  const out = outputOf(options.json);
  const body = { apikey: apiKey.reveal(), cardnumber: cardNumber.reveal(), amount: options.amount };
  const { loaded, environment, isReplayed } = await repeat(
    () => send(options.url + pathTo(operation), body, key),
    key,
    options.wait,
    out,
  );
  out.result(
    { loaded, replayed: isReplayed, environment, idempotency_key: key },
    `${formatCents(loaded)} EUR put on the card${isReplayed ? " by the earlier command" : ""} (${environment})`,
  );
}

interface Loaded {
  readonly loaded: number;
  readonly environment: string | null;
  readonly isReplayed: boolean;
}

/**
 * The result of a call. A `refused` call has done nothing, and its key decides about an earlier one: none was done, unless the
 * message says that the key was used. A `limited` call has done nothing either, but leaves an earlier one open.
 */
type Reply =
  | { readonly kind: "done"; readonly done: Loaded }
  | { readonly kind: "refused" | "limited"; readonly message: string }
  | { readonly kind: "unknown" | "busy" };

async function send(url: string, body: object, key: string): Promise<Reply> {
  try {
    const response = await fetch(url, {
      method: "POST",
      headers: { "Content-Type": "application/json", [IDEMPOTENCY_KEY_HEADER]: key },
      body: JSON.stringify(body),
      // The key must not be sent elsewhere.
      redirect: "manual",
      signal: AbortSignal.timeout(ANSWER_TIMEOUT_MS),
    });
    const { status, headers } = response;
    // The service echoes the key. Any other answer is from something in between, such as a proxy.
    if (headers.get(IDEMPOTENCY_KEY_HEADER) !== key) {
      if (status >= 500) return { kind: "unknown" };
      return {
        kind: "limited",
        message: `${url} answered with ${status}, but not as a gift card service. Check --url, and whether a proxy lets this till through.`,
      };
    }
    const answer = (await response.json()) as { error?: string; errors?: readonly Fault[]; amount_loaded?: number };
    if (status === 200 && answer.amount_loaded !== undefined) {
      const isReplayed = headers.get(IDEMPOTENCY_REPLAYED_HEADER) === "true";
      const done = { loaded: answer.amount_loaded, environment: headers.get(ENVIRONMENT_HEADER), isReplayed };
      return { kind: "done", done };
    }
    if (status === 503) return { kind: "busy" };
    if (status >= 500 || status === 200) return { kind: "unknown" };
    const faults = (answer.errors ?? []).map(({ path, message }) => ` ${path} ${message}.`);
    return { kind: status === 401 || status === 429 ? "limited" : "refused", message: answer.error + faults.join("") };
  } catch {
    return { kind: "unknown" };
  }
}

/** Calls until the outcome is known, or the time is up. */
async function repeat(call: () => Promise<Reply>, key: string, waitSeconds: number, out: Output): Promise<Loaded> {
  const startedAtMs = performance.now();
  const untilMs = startedAtMs + waitSeconds * 1000;
  for (let isOpen = false; ; await sleep(PAUSE_MS)) {
    const reply = await call();
    if (reply.kind === "done") return reply.done;
    if (reply.kind === "unknown") isOpen = true;
    const details = { idempotency_key: key };
    if (reply.kind === "refused" || (reply.kind === "limited" && !isOpen))
      throw new OperatorError(reply.message, exitCodes.conflict, details);
    if (performance.now() + PAUSE_MS < untilMs && reply.kind !== "limited") {
      const waited = Math.floor((performance.now() - startedAtMs) / 1000);
      out.progress(
        waited,
        waitSeconds,
        `seconds waited (${reply.kind === "busy" ? "the service is busy" : "no answer"})`,
      );
      continue;
    }
    if (!isOpen)
      throw new OperatorError("The service is busy. Nothing was done. Try again.", exitCodes.failed, details);
    throw new OperatorError(
      `The service did not answer. Whether the money is on the card is unknown: repeat the command with --idempotency-key ${key}. ` +
        "It is never put on the card twice.",
      exitCodes.failed,
      details,
    );
  }
}

/** `till activate|top-up` */
export const tillCommands = (group: Command): Command =>
  group
    .addCommand(tillCommand("activate", "Activate a sold card over the network", "activate"))
    .addCommand(tillCommand("top-up", "Add an amount to an active card over the network", "topUp"));
