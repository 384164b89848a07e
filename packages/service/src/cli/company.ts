import type { Command } from "commander";
import { closeCompany, createCompany, type ListedCompany, listCompanies } from "../store/accounts.js";
import { renameCompany, setSuspended } from "../store/companies.js";
import { addPasswordOptions, email, type PasswordOptions, readPassword } from "./account.js";
import { command } from "./command.js";
import { type CommonOptions, withContext } from "./context.js";
import { identifier, textOption } from "./output.js";

const create = () =>
  addPasswordOptions(command("create", "Create a company with an account and an API key, which is shown only now"))
    .audited({ isReasonRequired: false })
    .requiredOption("--name <name>", "the company's name", textOption(255))
    .requiredOption("--email <email>", "the account's email address", email)
    .action(async (options: CommonOptions & PasswordOptions & { name: string; email: string }) => {
      const { name, email } = options;
      const password = await readPassword(options);
      await withContext(options, async ({ pool, out, act }) => {
        const { companyId, apiKey } = await createCompany(pool, { name, email, password }, act);
        const shown = { company_id: companyId, apikey: apiKey.reveal() };
        out.result(shown, `company_id  ${shown.company_id}\napikey      ${shown.apikey}`);
      });
    });

const list = () =>
  command("list", "List the companies").run(async ({ pool, out }) => {
    const companies = await listCompanies(pool);
    out.result(companies, companies.map(line).join("\n") || "no companies");
  });

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
  changing("close", "Close a company for good: revoke its keys, and reject its logins")
    .addHelpText("after", "\nIts events and its devalues stay. It can no longer cancel a devalue.")
    .run(async ({ pool, out, act }, id: number) => {
      const { name, closedAt, revokedKeys } = await closeCompany(pool, id, act);
      out.result(
        { company_id: id, name, closed_at: closedAt, revoked_keys: revokedKeys },
        `${id}\t${name}\tclosed ${closedAt.toISOString()}\t${revokedKeys} keys revoked`,
      );
    });

const suspension = (name: string, description: string, isSuspended: boolean) =>
  changing(name, description).run(async ({ pool, out, act }, id: number) => {
    const { name: company, suspendedAt } = await setSuspended(pool, id, isSuspended, act);
    out.result(
      { company_id: id, name: company, suspended_at: suspendedAt },
      `${id}\t${company}\t${suspendedAt ? `suspended ${suspendedAt.toISOString()}` : "not suspended"}`,
    );
  });

const suspend = () =>
  suspension("suspend", "Refuse a company's keys and logins until it is resumed", true).addHelpText(
    "after",
    "\nIts keys can still cancel devalues, so that customers get their money back.",
  );

const resume = () => suspension("resume", "Accept the keys and logins of a suspended company again", false);

const rename = () =>
  changing("rename", "Rename a company, also in reports about the past")
    .requiredOption("--name <name>", "the new name", textOption(255))
    .run(async ({ pool, out, act }, id: number, options: { name: string }) => {
      const { name, before } = await renameCompany(pool, id, options.name, act);
      out.result({ company_id: id, name, before }, `${id}\t${name}\tbefore: ${before}`);
    });

/** Creates a command that changes an existing company. */
const changing = (name: string, description: string) =>
  command(name, description).audited({ isReasonRequired: true }).argument("<id>", "the company's id", identifier);

export const companyCommand = (group: Command): Command =>
  [create(), list(), suspend(), resume(), rename(), close()].reduce((added, one) => added.addCommand(one), group);
