import type { Command } from "commander";
import { exitCodes, OperatorError } from "../operator-error.js";
import { type ApiKey, createApiKey, keysStatement, revokeApiKey, revokeCompanyKeys } from "../store/api-keys.js";
import { checkFilter } from "../store/filters.js";
import { type ActOptions, actOf, addActOptions, erasableText } from "./act.js";
import { type CommonOptions, command, withContext } from "./context.js";
import { day, identifier, wholeNumber } from "./output.js";
import { formatOf, printRows } from "./rows.js";

const MAX_ID = Number.MAX_SAFE_INTEGER;
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

type CreateOptions = CommonOptions &
  ActOptions & {
    readonly company: number;
    readonly label?: string;
    readonly expires?: string;
  };

const create = () =>
  addActOptions(command("create", "Create an API key for a company; it is shown only now"), {
    isReasonRequired: false,
  })
    .requiredOption("--company <id>", "the company's id", identifier)
    .option("--label <text>", "the key's purpose, shown by `key list`", erasableText(MAX_LABEL))
    .option("--expires <yyyy-mm-dd>", "the last day of validity (default: until it is revoked)", day)
    .action((options: CreateOptions) =>
      withContext(options, async ({ pool, out }) => {
        const { company: companyId, label, expires: lastDay } = options;
        const order = { companyId, label, lastDay };
        const { key, apiKey } = await createApiKey(pool, order, actOf(options));
        if (key.expires_at && key.expires_at.getTime() <= Date.now()) out.warn("the key has already expired");
        out.result({ ...key, apikey: apiKey.reveal() }, `${line(key)}\napikey  ${apiKey.reveal()}`);
      }),
    );

const list = () =>
  command("list", "List the API keys with the time of their last use; the keys themselves are not stored")
    .option("--company <id>", "the keys of this company", identifier)
    .action((options: CommonOptions & { company?: number }) =>
      withContext(options, async ({ pool }) => {
        await checkFilter(pool, { companyId: options.company });
        const statement = keysStatement(options.company);
        await printRows<ApiKey>(pool, { statement, format: formatOf(options), line, none: "no keys" });
      }),
    );

const revoke = () =>
  addActOptions(command("revoke", "Revoke an API key for good; calls with it are rejected at once"), {
    isReasonRequired: true,
  })
    .argument("[id]", "the key's id, as `key list` shows it", wholeNumber(1, MAX_ID))
    .option("--company <id>", "all active keys of this company, instead of one key", identifier)
    .addHelpText("after", "\nWith --json and --company the answer is an array of the keys that were revoked now.")
    .action((id: number | undefined, options: CommonOptions & ActOptions & { company?: number }) => {
      const { company } = options;
      if ((id === undefined) === (company === undefined))
        throw new OperatorError("Name a key by its id, or --company.", exitCodes.usage);
      return withContext(options, async ({ pool, out }) => {
        if (company !== undefined) {
          const revoked = await revokeCompanyKeys(pool, company, actOf(options));
          out.result(revoked, revoked.map(line).join("\n") || "no active keys");
          return;
        }
        const key = await revokeApiKey(pool, id as number, actOf(options));
        if (!key)
          throw new OperatorError("There is no key with this id. `key list` lists the keys.", exitCodes.notFound);
        out.result(key, line(key));
      });
    });

/** `key create|list|revoke` */
export const keyCommand = (group: Command): Command =>
  group.addCommand(create()).addCommand(list()).addCommand(revoke());
