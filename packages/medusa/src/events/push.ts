import { randomUUID } from "node:crypto";
import { GiftcardError, RefusedError, UnreachableError } from "@giftcard-pay/client";
import { newEventInput } from "@giftcard-pay/events";
import type { MedusaContainer } from "@medusajs/framework/types";
import { ContainerRegistrationKeys } from "@medusajs/framework/utils";
import { contextOf, type GiftcardContext } from "../context/context.js";
import { nameOf } from "../errors.js";
import { findAtIssuer } from "./issuer-list.js";
import {
  type Batch,
  claimOpen,
  claimUnanswered,
  endPushes,
  forgetBatches,
  holdBatch,
  leaveUnanswered,
  type PushEnd,
  refuseBegun,
  reopenMended,
} from "./push-store.js";

/** The service that events go to, as it is written down with them: what one has, another one hasn't. */
export const serviceOf = ({ engine, client }: GiftcardContext): string =>
  `${engine.environment} ${client.baseUrl} ${client.companyId}`;

/**
 * Sends what was published and isn't at the issuer yet, then asks again for what got no answer. Safe to stop at any point,
 * and in several processes at once: what is sent is written down before it leaves, and one process has each call.
 *
 * @param options.until when to stop, though events are left
 */
export async function pushEvents(
  container: MedusaContainer,
  { until = () => false }: { until?: () => boolean } = {},
): Promise<void> {
  const context = contextOf(container);
  const { sql, settings } = context;
  if (!settings.events) return;
  const service = serviceOf(context);
  const lease = { owner: randomUUID(), forMs: settings.leaseMs };
  const call = { container, context, service, lease };
  await reopenMended(sql, service);
  await refuseBegun(sql, service);
  let goesOn = true;
  while (goesOn && !until()) {
    const batch = await claimOpen(sql, service, { ...lease, reference: `events-${randomUUID()}` });
    if (!batch) break;
    const end = await send(call, batch);
    goesOn = end === "over" || (end === "unknown" && (await askAgain(call, batch)));
  }
  while (goesOn && !until()) {
    const batch = await claimUnanswered(sql, service, lease);
    if (!batch) break;
    goesOn = await askAgain(call, batch);
  }
  await forgetBatches(sql);
}

/** The same for whoever asked for something else, which is done: what isn't sent now goes by itself, and the log says why. */
export async function pushNow(
  container: MedusaContainer,
  options?: { until?: () => boolean },
): Promise<void> {
  try {
    await pushEvents(container, options);
  } catch (error) {
    container
      .resolve(ContainerRegistrationKeys.LOGGER)
      .error(`giftcard events: not sent, they are tried again in a minute: ${nameOf(error)}`);
  }
}

/** What a push works with. */
interface Call {
  readonly container: MedusaContainer;
  readonly context: GiftcardContext;
  readonly service: string;
  readonly lease: { readonly owner: string; readonly forMs: number };
}

/** `over`: what became of it is written down. `stop`: it is, and another call would go the same way. */
type Outcome = "over" | "stop" | "unknown";

/**
 * The service keeps an answer for a day, and the key for good. It has done nothing now; whether an earlier call under the
 * key has, the events' own keys decide when they are sent under another one.
 */
const isOfKey = ({ status, keyHonoured, faults }: RefusedError) =>
  status === 422 && keyHonoured && faults.length === 0;

/** Sends a call, and writes down what became of it, where that is known. */
async function send(call: Call, { reference, items }: Pick<Batch, "reference" | "items">): Promise<Outcome> {
  const { sql, client } = call.context;
  try {
    const inputs = items.map(({ sent }) => newEventInput({ ...sent, state: "published" }));
    const created = await client.createEvents(inputs, { reference });
    if (created.length !== items.length) return "unknown";
    await end(
      call,
      reference,
      items.map(({ key }, place) => ({
        ...{ key, state: "made", isListed: true },
        issuerId: created[place]?.id ?? null,
      })),
    );
    return "over";
  } catch (error) {
    if (!(error instanceof GiftcardError)) throw error;
    tell(call, `${items.length} not sent (reference ${reference}): ${error.message}`);
    if (error instanceof RefusedError && (await endFaulty(call, { reference, items }, error))) return "over";
    const isNothing =
      (error instanceof RefusedError &&
        (error.status === undefined || error.isBeforeTheCall || isOfKey(error))) ||
      (error instanceof UnreachableError && error.code === "not_connected");
    const fault = error.message;
    if (isNothing)
      await endPushes(
        sql,
        reference,
        items.map(({ key }) => ({ key, state: "open", fault })),
      );
    return isNothing ? "stop" : "unknown";
  }
}

/**
 * Ends a call of which the service names the events at fault. It made none: those without a fault are sent anew. One
 * whose key is taken is at the issuer already.
 *
 * @returns false where the refusal names none
 */
async function endFaulty(
  call: Call,
  { reference, items }: Pick<Batch, "reference" | "items">,
  { faults }: RefusedError,
): Promise<boolean> {
  const { sql, client } = call.context;
  const ofItem = items.map((_, place) => faults.filter(({ path }) => path.startsWith(`events.${place}.`)));
  if (ofItem.every((some) => some.length === 0)) return false;
  const isTaken = (place: number) => ofItem[place]?.some(({ path }) => path.endsWith(".event_key")) ?? false;
  const taken = items.filter((_, place) => isTaken(place));
  // Without the list the number stays unknown; that it is there is certain. It isn't listed as it was sent where a feed that
  // was pulled says something else by now, or takes it back.
  const found = await findAtIssuer(sql, client, call.service, taken).catch(() => null);
  await end(
    call,
    reference,
    items.map(({ key }, place): PushEnd => {
      const issuerId = found?.get(key) ?? null;
      if (isTaken(place)) return { key, state: "made", issuerId, isListed: !found || issuerId !== null };
      const fault = (ofItem[place] ?? []).map(({ path, message }) => `${path.split(".")[2]} ${message}`);
      return fault.length > 0
        ? { key, state: "refused", fault: fault.join("; ") }
        : { key, state: "open", fault: "another event of the same call was refused" };
    }),
  );
  return true;
}

/**
 * Ends a call that got no answer: by the issuer's list; then by the same call under its Idempotency-Key, to which the
 * service gives its first answer. Where all of it is taken back by now, the list alone is asked, for a day.
 *
 * @returns false where another call would go the same way
 */
async function askAgain(call: Call, batch: Batch): Promise<boolean> {
  const { sql, client } = call.context;
  const { reference, items, wish } = batch;
  try {
    const found = await findAtIssuer(sql, client, call.service, items);
    if (found.size > 0) {
      await end(
        call,
        reference,
        items.map(({ key }): PushEnd => {
          const issuerId = found.get(key);
          return issuerId === undefined
            ? { key, state: "open", fault: "the issuer's list doesn't have it" }
            : { key, state: "made", issuerId, isListed: true };
        }),
      );
      return true;
    }
    if (wish === "given_up") {
      const fault = "It was sent, no answer came, and the issuer's list never had it.";
      await endPushes(
        sql,
        reference,
        items.map(({ key }) => ({ key, state: "open", fault })),
      );
      return true;
    }
    if (wish === "taken_back") {
      // To send it now would make what nobody wants. The list tells, should it have arrived or arrive late.
      await leaveUnanswered(
        sql,
        reference,
        "It was sent, and no answer came. It is taken back, so the list is looked at, and nothing sent.",
      );
      return true;
    }
    if (!(await holdBatch(sql, reference, call.lease))) return true;
    const outcome = await send(call, batch);
    if (outcome !== "unknown") return outcome === "over";
    await leaveUnanswered(sql, reference, "It was sent, and no answer came. It is asked for again.");
  } catch (error) {
    if (!(error instanceof GiftcardError)) throw error;
    await leaveUnanswered(sql, reference, `It was sent, and no answer came. ${error.message}`);
  }
  return false;
}

async function end({ container, context }: Call, reference: string, ends: readonly PushEnd[]): Promise<void> {
  await endPushes(context.sql, reference, ends);
  const made = ends.filter(({ state }) => state === "made").length;
  const logger = container.resolve(ContainerRegistrationKeys.LOGGER);
  logger.info(`giftcard events: ${made} of ${ends.length} at the issuer (reference ${reference})`);
}

const tell = ({ container }: Call, what: string): void =>
  container.resolve(ContainerRegistrationKeys.LOGGER).warn(`giftcard events: ${what}`);
