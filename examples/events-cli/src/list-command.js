import { Argument, Command, Option } from "commander";
import { connect } from "./connection.js";
import { exitCodes, Failure } from "./failure.js";
import { jsonLdOf } from "./json-ld.js";
import { say, table } from "./output.js";

const lists = /** @type {const} */ (["providers", "concepts", "events"]);

/** `list`: what the service holds for the company. */
export const listCommand = () =>
  new Command("list")
    .description("print providers, event concepts and events")
    .addArgument(new Argument("[what]", "one of them; all when left out").choices(lists))
    .addOption(new Option("--json", "print one JSON value").conflicts("jsonLd"))
    .option("--json-ld", "print the events as schema.org/Event")
    .helpOption("-h, --help", "show this help")
    .action(list);

/** @param {(typeof lists)[number] | undefined} what @param {{ json?: boolean, jsonLd?: boolean }} options */
async function list(what, { json, jsonLd }) {
  if (jsonLd && what !== undefined && what !== "events")
    throw new Failure(`Only events can be printed with --json-ld, not ${what}.`, exitCodes.usage);
  const wanted = jsonLd ? ["events"] : what ? [what] : lists;
  const { client } = connect(process.env, { withKey: what !== "providers" });
  const held = {
    ...(wanted.includes("providers") && { providers: await client.listProviders() }),
    ...(wanted.includes("concepts") && { concepts: await client.listEventConcepts() }),
    ...(wanted.includes("events") && { events: await client.listEvents() }),
  };
  if (jsonLd) return say(jsonLdOf(held.events ?? []));
  if (json) return say(JSON.stringify(held));
  const { providers, concepts, events } = held;
  /** @param {import("@giftcard-pay/client").EventConcept} concept */
  const conceptOf = ({ id, register, representative, providerId }) => ({
    id,
    register,
    representative,
    providerId,
  });
  /** @param {import("@giftcard-pay/client").Event} event */
  const eventOf = ({ id, date, time, title, location }) => ({ id, date, time, title, location });
  if (providers) say(table("Providers", providers));
  if (concepts) say(table("Concepts", concepts.map(conceptOf)));
  if (events) say(table("Events", events.map(eventOf)));
}
