import { Command } from "commander";
import { type EventFeed, listFeeds, removeFeed } from "../store/event-feeds.js";
import { type ActOptions, actOf, addActOptions } from "./act.js";
import { type CommonOptions, command, withContext } from "./context.js";
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

/** `events pull`, `events feed list|remove` */
export const eventsCommand = (group: Command): Command =>
  group
    .addCommand(eventPull())
    .addCommand(
      new Command("feed").description("The companies' feeds of events").addCommand(list()).addCommand(remove()),
    );
