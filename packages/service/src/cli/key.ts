import type { Command } from "commander";
import { exitCodes, OperatorError } from "../operator-error.js";
import { type ApiKey, listApiKeys, revokeApiKey } from "../store/accounts.js";
import { type ActOptions, actOf, addActOptions } from "./act.js";
import { type CommonOptions, command, withContext } from "./context.js";
import { identifier, wholeNumber } from "./output.js";

const MAX_ID = Number.MAX_SAFE_INTEGER;

const shown = ({ id, companyId, createdAt, revokedAt }: ApiKey) => ({
  key_id: id,
  company_id: companyId,
  created_at: createdAt,
  revoked_at: revokedAt,
});

const line = ({ id, companyId, createdAt, revokedAt }: ApiKey) =>
  `${id}\tcompany ${companyId}\tmade ${createdAt.toISOString()}\t${revokedAt ? `revoked ${revokedAt.toISOString()}` : "living"}`;

const list = () =>
  command("list", "List the API keys; the keys themselves are not kept")
    .option("--company <id>", "those of this company only", identifier)
    .action((options: CommonOptions & { company?: number }) =>
      withContext(options, async ({ pool, out }) => {
        const keys = await listApiKeys(pool, options.company);
        out.result(keys.map(shown), keys.map(line).join("\n") || "no keys");
      }),
    );

const revoke = () =>
  addActOptions(command("revoke", "Revoke an API key, for good; calls with it are refused at once"), {
    isReasonRequired: true,
  })
    .argument("<id>", "the key's id, as `key list` shows it", wholeNumber(1, MAX_ID))
    .action((id: number, options: CommonOptions & ActOptions) =>
      withContext(options, async ({ pool, out }) => {
        const key = await revokeApiKey(pool, id, actOf(options));
        if (!key) throw new OperatorError("There is no key of this id.", exitCodes.notFound);
        out.result(shown(key), line(key));
      }),
    );

/** `key list|revoke` */
export const keyCommand = (group: Command): Command => group.addCommand(list()).addCommand(revoke());
