import type { Command } from "commander";
import { closeCompany, createCompany, listCompanies } from "../store/accounts.js";
import { noCompany } from "../store/filters.js";
import { type ActOptions, actOf, addActOptions } from "./act.js";
import { type CommonOptions, command, withContext } from "./context.js";
import { addPasswordOptions, email, type PasswordOptions, readPassword } from "./credential-options.js";
import { identifier, textOption } from "./output.js";

interface CreateOptions extends CommonOptions, ActOptions, PasswordOptions {
  readonly name: string;
  readonly email: string;
}

const create = () =>
  addActOptions(
    addPasswordOptions(command("create", "Create a company with an account and an API key, which is shown only now")),
    { isReasonRequired: false },
  )
    .requiredOption("--name <name>", "the company's name", textOption(255))
    .requiredOption("--email <email>", "the account's email address", email)
    .action(async (options: CreateOptions) => {
      const password = await readPassword(options);
      await withContext(options, async ({ pool, out }) => {
        const { name, email } = options;
        const { companyId, apiKey } = await createCompany(pool, { name, email, password }, actOf(options));
        const shown = { company_id: companyId, apikey: apiKey.reveal() };
        out.result(shown, `company_id  ${shown.company_id}\napikey      ${shown.apikey}`);
      });
    });

const list = () =>
  command("list", "List the companies").action((options: CommonOptions) =>
    withContext(options, async ({ pool, out }) => {
      const companies = await listCompanies(pool);
      out.result(
        companies.map(({ id, name, emails, closedAt, storage: { events, eventBytes } }) => ({
          company_id: id,
          name,
          emails,
          events,
          event_bytes: eventBytes,
          ...(closedAt && { closed_at: closedAt }),
        })),
        companies
          .map(({ id, name, emails, closedAt, storage: { events, eventBytes } }) =>
            [
              id,
              name,
              emails.join(", "),
              `${events} events, ${(eventBytes / 1e6).toFixed(1)} MB`,
              ...(closedAt ? [`closed ${closedAt.toISOString()}`] : []),
            ].join("\t"),
          )
          .join("\n") || "no companies",
      );
    }),
  );

const close = () =>
  addActOptions(command("close", "Close a company for good: revoke its keys, and reject its logins"), {
    isReasonRequired: true,
  })
    .argument("<id>", "the company's id", identifier)
    .addHelpText("after", "\nIts events and its devalues stay. It can no longer cancel a devalue.")
    .action((id: number, options: CommonOptions & ActOptions) =>
      withContext(options, async ({ pool, out }) => {
        const closed = await closeCompany(pool, id, actOf(options));
        if (!closed) throw noCompany();
        const { name, closedAt, revokedKeys } = closed;
        out.result(
          { company_id: id, name, closed_at: closedAt, revoked_keys: revokedKeys },
          `${id}\t${name}\tclosed ${closedAt.toISOString()}\t${revokedKeys} keys revoked`,
        );
      }),
    );

/** `company create|list|close` */
export const companyCommand = (group: Command): Command =>
  group.addCommand(create()).addCommand(list()).addCommand(close());
