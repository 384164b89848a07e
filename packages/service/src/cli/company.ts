import { Secret } from "@giftcard-pay/client/contract";
import { type Command, InvalidArgumentError } from "commander";
import { exitCodes, OperatorError } from "../operator-error.js";
import { createCompany, listCompanies } from "../store/accounts.js";
import { textOption } from "./output.js";
import { readLine } from "./stdin.js";
import { type CommonOptions, command, withWorkplace } from "./workplace.js";

interface CreateOptions extends CommonOptions {
  readonly name: string;
  readonly email: string;
  readonly password?: string;
  readonly passwordStdin?: boolean;
}

/** The Basic scheme ends the email at the first colon. */
function email(text: string): string {
  if (!/^[^\s@:]+@[^\s@:]+$/.test(text) || text.length > 254)
    throw new InvalidArgumentError("Give an email address.");
  return text;
}

const create = () =>
  command("create", "Make a company with an account and an API key, which is shown only now")
    .requiredOption("--name <name>", "the company's name", textOption(255))
    .requiredOption("--email <email>", "the account's email address", email)
    .option("--password <password>", "the account's password; others on this machine may see it, so better:")
    .option("--password-stdin", "read the password from standard input (or set GIFTCARD_PASSWORD)")
    .action(async (options: CreateOptions) => {
      const password = await readPassword(options);
      await withWorkplace(options, async ({ pool, out }) => {
        const { companyId, apiKey } = await createCompany(pool, {
          name: options.name,
          email: options.email,
          password,
        });
        const shown = { company_id: companyId, apikey: apiKey.reveal() };
        out.result(shown, `company_id  ${shown.company_id}\napikey      ${shown.apikey}`);
      });
    });

async function readPassword({ password, passwordStdin }: CreateOptions): Promise<Secret> {
  const given = passwordStdin ? await readLine("the password") : (password ?? process.env.GIFTCARD_PASSWORD);
  if (given) return new Secret(given);
  throw new OperatorError(
    "Give a password: --password-stdin, GIFTCARD_PASSWORD or --password.",
    exitCodes.usage,
  );
}

const list = () =>
  command("list", "List the companies").action((options: CommonOptions) =>
    withWorkplace(options, async ({ pool, out }) => {
      const companies = await listCompanies(pool);
      out.result(
        companies.map(({ id, name, emails }) => ({ company_id: id, name, emails })),
        companies.map(({ id, name, emails }) => `${id}\t${name}\t${emails.join(", ")}`).join("\n") ||
          "no companies",
      );
    }),
  );

/** `company create|list` */
export const companyCommand = (group: Command): Command => group.addCommand(create()).addCommand(list());
