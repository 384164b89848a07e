import { Command } from "commander";
import { isUnanswered } from "../push/create-events.js";
import { connect } from "./connection.js";
import { exitCodes, Failure, say, wholeNumber } from "./output.js";

/** `concept create`: creates an event concept, the container of an organiser's events. */
export const conceptCommand = (): Command =>
  new Command("concept")
    .description("manage event concepts")
    .addCommand(
      new Command("create")
        .description("create an event concept")
        .requiredOption("--representative <name>", "the organiser's representative")
        .requiredOption("--register <name>", "the name of the concept")
        .requiredOption(
          "--provider <id>",
          "the ticketing provider; `list providers` shows them",
          wholeNumber(1, 999_999_999),
        )
        .option("--json", "print one JSON value")
        .action(create),
    );

interface CreateOptions {
  readonly representative: string;
  readonly register: string;
  readonly provider: number;
  readonly json?: boolean;
}

async function create({ representative, register, provider, json }: CreateOptions) {
  const { client } = connect();
  try {
    const concept = await client.createEventConcept({ representative, register, providerId: provider });
    say(json ? JSON.stringify(concept) : `Concept ${concept.id} created.`);
  } catch (error) {
    // The interface can't detect a duplicate concept.
    if (!isUnanswered(error)) throw error;
    throw new Failure(
      `${error.message} The concept may exist: run \`list concepts\` before you try again.`,
      exitCodes.unanswered,
    );
  }
}
