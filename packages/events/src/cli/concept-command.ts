import { Command } from "commander";
import { connect } from "./connection.js";
import { exitCodes, Failure } from "./failure.js";
import { say, wholeNumber } from "./output.js";
import { isUnanswered } from "./push.js";

/** `concept create`: makes an event concept, the container of an organiser's events. */
export const conceptCommand = (): Command =>
  new Command("concept")
    .description("event concepts")
    .helpOption("-h, --help", "show this help")
    .addCommand(
      new Command("create")
        .description("make an event concept")
        .requiredOption("--representative <name>", "who speaks for it")
        .requiredOption("--register <name>", "its name in the register")
        .requiredOption(
          "--provider <id>",
          "the ticketing provider; `list providers` shows them",
          wholeNumber(1, 999_999_999),
        )
        .option("--json", "print one JSON value")
        .helpOption("-h, --help", "show this help")
        .action(create),
    );

interface CreateOptions {
  readonly representative: string;
  readonly register: string;
  readonly provider: number;
  readonly json?: boolean;
}

async function create({ representative, register, provider, json }: CreateOptions) {
  const { client } = connect(process.env);
  try {
    const concept = await client.createEventConcept({ representative, register, providerId: provider });
    say(json ? JSON.stringify(concept) : `Concept ${concept.id} was made.`);
  } catch (error) {
    // The interface has nothing that tells a concept sent twice from two.
    if (!isUnanswered(error)) throw error;
    throw new Failure(
      `${error.message} It may have been made: look with \`list concepts\` before you try again.`,
      exitCodes.unanswered,
    );
  }
}
