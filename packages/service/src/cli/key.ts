import type { Command } from "commander";
import { exitCodes, OperatorError } from "../operator-error.js";
import { type ApiKey, createApiKey, keysStatement, revokeApiKey, revokeCompanyKeys } from "../store/api-keys.js";
import { checkFilter } from "../store/filters.js";
import { command, erasableText } from "./command.js";
import { type CommonOptions, withContext } from "./context.js";
import { day, identifier, wholeNumber } from "./output.js";
import { formatOf, printRows } from "./rows.js";

const MAX_LABEL = 100;

const line = ({ key_id, company_id, label, by_login, created_at, last_used_at, expires_at, revoked_at }: ApiKey) =>
  [
    key_id,
    `company ${company_id}`,
    label ?? (by_login ? "(by login)" : ""),
    `created ${created_at.toISOString()}`,
    last_used_at ? `used ${last_used_at.toISOString()}` : "never used",
    stateOf(expires_at, revoked_at),
  ].join("\t");

function stateOf(expiresAt: Date | null, revokedAt: Date | null): string {
  if (revokedAt) return `revoked ${revokedAt.toISOString()}`;
  if (!expiresAt) return "active";
  return `${expiresAt.getTime() <= Date.now() ? "expired" : "expires"} ${expiresAt.toISOString()}`;
}

const create = () =>
  command("create", "Create an API key for a company; it is shown only now")
    .audited({ isReasonRequired: false })
    .requiredOption("--company <id>", "the company's id", identifier)
    .option("--label <text>", "the key's purpose, shown by `key list`", erasableText(MAX_LABEL))
    .option("--expires <yyyy-mm-dd>", "the last day of validity (default: until it is revoked)", day)
    .run(async ({ pool, out, act }, options: { company: number; label?: string; expires?: string }) => {
      const { company: companyId, label, expires: lastDay } = options;
      const { key, apiKey } = await createApiKey(pool, { companyId, label, lastDay }, act);
      if (key.expires_at && key.expires_at.getTime() <= Date.now()) out.warn("the key has already expired");
      out.result({ ...key, apikey: apiKey.reveal() }, `${line(key)}\napikey  ${apiKey.reveal()}`);
    });

const list = () =>
  command("list", "List the API keys with the time of their last use; the keys themselves are not stored")
    .option("--company <id>", "the keys of this company", identifier)
    .run(async ({ pool }, { company: companyId, json }: { company?: number; json: boolean }) => {
      await checkFilter(pool, { companyId });
      const statement = keysStatement(companyId);
      await printRows<ApiKey>(pool, { statement, format: formatOf({ json }), line, none: "no keys" });
    });

const revoke = () =>
  command("revoke", "Revoke an API key for good; calls with it are rejected at once")
    .audited({ isReasonRequired: true })
    .argument("[id]", "the key's id, as `key list` shows it", wholeNumber(1, Number.MAX_SAFE_INTEGER))
    .option("--company <id>", "all active keys of this company, instead of one key", identifier)
    .addHelpText("after", "\nWith --json and --company the answer is an array of the keys that were revoked now.")
    .action((id: number | undefined, options: CommonOptions & { company?: number }) => {
      const { company } = options;
      if ((id === undefined) === (company === undefined))
        throw new OperatorError("Name a key by its id, or --company.", exitCodes.usage);
      return withContext(options, async ({ pool, out, act }) => {
        if (company !== undefined) {
          const revoked = await revokeCompanyKeys(pool, company, act);
          return out.result(revoked, revoked.map(line).join("\n") || "no active keys");
        }
        const key = await revokeApiKey(pool, id as number, act);
        out.result(key, line(key));
      });
    });

export const keyCommand = (group: Command): Command =>
  group.addCommand(create()).addCommand(list()).addCommand(revoke());
