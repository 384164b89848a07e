import { Command } from "commander";
import { removeCreated } from "../store/company-storage.js";
import { type EventFeed, listFeeds, removeFeed } from "../store/event-feeds.js";
import { type ActOptions, actOf, addActOptions } from "./act.js";
import { type CommonOptions, command, withContext } from "./context.js";
import { addDayOptions, checkDays, type DayOptions } from "./day-options.js";
import { eventPull } from "./event-pull.js";
import { identifier } from "./output.js";

const list = () =>
  command("list", "List the feeds, with the result of each last pull").action((options: CommonOptions) =>
    withContext(options, async ({ pool, out }) => {
      const feeds = await listFeeds(pool);
      out.result(feeds.map(wireOf), feeds.map(lineOf).join("\n") || "no feeds");
    }),
  );

const remove = () =>
  addActOptions(command("remove", "Remove a company's feed; its events stay"), {
    isReasonRequired: true,
  })
    .requiredOption("--company <id>", "the company's id", identifier)
    .action((options: CommonOptions & ActOptions & { company: number }) =>
      withContext(options, async ({ pool, out }) => {
        const feed = await removeFeed(pool, options.company, actOf(options));
        out.result(wireOf(feed), `company ${feed.companyId}: ${feed.url} is removed`);
      }),
    );

interface RemoveOptions extends CommonOptions, ActOptions, DayOptions {
  readonly company: number;
  readonly dryRun: boolean;
}

const removeEvents = () =>
  addActOptions(
    addDayOptions(command("remove", "Delete the events and concepts that a company created through the interface"), {
      isRequired: false,
    }),
    { isReasonRequired: true },
  )
    .requiredOption("--company <id>", "the company's id", identifier)
    .option("--dry-run", "show how many would be deleted, but delete nothing", false)
    .addHelpText("after", "\nThe days are those of their creation. Events of the company's feed stay.")
    .action(({ company: companyId, from, to, dryRun, ...options }: RemoveOptions) => {
      checkDays({ from, to });
      return withContext(options, async ({ pool, out }) => {
        const removed = await removeCreated(pool, { companyId, from, to, isDryRun: dryRun }, actOf(options));
        out.result(
          { company_id: companyId, ...removed, dry_run: dryRun },
          `company ${companyId}: ${removed.events} events and ${removed.concepts} concepts ${dryRun ? "would be" : "are"} deleted`,
        );
      });
    });

const wireOf = ({ companyId, url, allowsPrivate, pulledAt, failedAt, failure }: EventFeed) => ({
  company_id: companyId,
  url,
  allow_private: allowsPrivate,
  pulled_at: pulledAt,
  failed_at: failedAt,
  failure,
});

const lineOf = ({ companyId, url, pulledAt, failedAt, failure }: EventFeed) =>
  [
    `company ${companyId}`,
    url,
    `pulled ${pulledAt.toISOString()}`,
    ...(failedAt ? [`failed ${failedAt.toISOString()}`, failure] : []),
  ].join("\t");

/** `events pull|remove`, `events feed list|remove` */
export const eventsCommand = (group: Command): Command =>
  group
    .addCommand(eventPull())
    .addCommand(removeEvents())
    .addCommand(
      new Command("feed").description("The companies' feeds of events").addCommand(list()).addCommand(remove()),
    );
