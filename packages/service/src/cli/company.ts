import type { Command } from "commander";
import { closeCompany, createCompany, type ListedCompany, listCompanies } from "../store/accounts.js";
import { renameCompany, setSuspended } from "../store/companies.js";
import { noCompany } from "../store/filters.js";
import { addPasswordOptions, email, type PasswordOptions, readPassword } from "./account.js";
import { type ActOptions, actOf, addActOptions } from "./act.js";
import { type CommonOptions, command, withContext } from "./context.js";
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
      out.result(companies, companies.map(line).join("\n") || "no companies");
    }),
  );

const line = ({ company_id, name, emails, account_ids, events, event_bytes, ...company }: ListedCompany) =>
  [
    company_id,
    name,
    emails.map((email, index) => `${email} (account ${account_ids[index]})`).join(", "),
    `${events} events, ${(event_bytes / 1e6).toFixed(1)} MB`,
    ...(company.suspended_at ? [`suspended ${company.suspended_at.toISOString()}`] : []),
    ...(company.closed_at ? [`closed ${company.closed_at.toISOString()}`] : []),
  ].join("\t");

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

const suspension = (name: string, description: string, isSuspended: boolean) =>
  addActOptions(command(name, description), { isReasonRequired: true })
    .argument("<id>", "the company's id", identifier)
    .action((id: number, options: CommonOptions & ActOptions) =>
      withContext(options, async ({ pool, out }) => {
        const { name: company, suspendedAt } = await setSuspended(pool, id, isSuspended, actOf(options));
        out.result(
          { company_id: id, name: company, suspended_at: suspendedAt },
          `${id}\t${company}\t${suspendedAt ? `suspended ${suspendedAt.toISOString()}` : "not suspended"}`,
        );
      }),
    );

const suspend = () =>
  suspension("suspend", "Refuse a company's keys and logins until it is resumed", true).addHelpText(
    "after",
    "\nIts keys can still cancel devalues, so that customers get their money back.",
  );

const resume = () => suspension("resume", "Accept the keys and logins of a suspended company again", false);

const rename = () =>
  addActOptions(command("rename", "Rename a company, also in reports about the past"), { isReasonRequired: true })
    .argument("<id>", "the company's id", identifier)
    .requiredOption("--name <name>", "the new name", textOption(255))
    .action((id: number, options: CommonOptions & ActOptions & { readonly name: string }) =>
      withContext(options, async ({ pool, out }) => {
        const { name, before } = await renameCompany(pool, id, options.name, actOf(options));
        out.result({ company_id: id, name, before }, `${id}\t${name}\tbefore: ${before}`);
      }),
    );

/** `company create|list|suspend|resume|rename|close` */
export const companyCommand = (group: Command): Command =>
  [create(), list(), suspend(), resume(), rename(), close()].reduce((added, one) => added.addCommand(one), group);
