import { Secret } from "@giftcard-pay/client/contract";
import { type Command, InvalidArgumentError } from "commander";
import { exitCodes, OperatorError } from "../operator-error.js";
import { addAccount, changePassword, removeAccount } from "../store/accounts.js";
import { command, type DatabaseCommand } from "./command.js";
import { type CommonOptions, withContext } from "./context.js";
import { identifier, isPrintable } from "./output.js";
import { readLine } from "./stdin.js";

const add = () =>
  addPasswordOptions(command("add", "Add an account to a company, with which it logs in"))
    .audited({ isReasonRequired: false })
    .requiredOption("--company <id>", "the company's id", identifier)
    .requiredOption("--email <email>", "the account's email address", email)
    .action(async (options: CommonOptions & PasswordOptions & { company: number; email: string }) => {
      const { company: companyId, email } = options;
      const password = await readPassword(options);
      await withContext(options, async ({ pool, out, act }) => {
        const { id } = await addAccount(pool, { companyId, email, password }, act);
        out.result({ account_id: id, company_id: companyId, email }, `account ${id} of company ${companyId}: ${email}`);
      });
    });

const password = () =>
  addPasswordOptions(command("password", "Change an account's password; the old one stops working at once"))
    .audited({ isReasonRequired: true })
    .argument("<email>", "the account's email address", email)
    .option(
      "--revoke-keys",
      "also revoke all keys of its company, which somebody with the old password may have created",
      false,
    )
    .action(async (email: string, options: CommonOptions & PasswordOptions & { revokeKeys: boolean }) => {
      const newPassword = await readPassword(options);
      await withContext(options, async ({ pool, out, act }) => {
        const change = { email, password: newPassword, revokesKeys: options.revokeKeys };
        const { id, companyId, revokedKeys } = await changePassword(pool, change, act);
        out.result(
          { account_id: id, company_id: companyId, email, revoked_keys: revokedKeys },
          `account ${id} of company ${companyId} has a new password, ${revokedKeys} keys revoked`,
        );
      });
    });

const remove = () =>
  command("remove", "Remove an account for good and erase its email address; its company's keys keep working")
    .audited({ isReasonRequired: true })
    .argument("<email>", "the account's email address", email)
    .run(async ({ pool, out, act }, email: string) => {
      const { id, companyId } = await removeAccount(pool, email, act);
      out.result({ account_id: id, company_id: companyId, email }, `account ${id} of company ${companyId} is removed`);
    });

export const accountCommand = (group: Command): Command =>
  group.addCommand(add()).addCommand(password()).addCommand(remove());

export interface PasswordOptions {
  readonly password?: string;
  readonly passwordStdin?: boolean;
}

export const addPasswordOptions = (command: DatabaseCommand): DatabaseCommand =>
  command
    .option("--password <password>", "the account's password, which others on this machine may see; better:")
    .option("--password-stdin", "read the password from standard input (or set GIFTCARD_PASSWORD)");

/** @throws {OperatorError} if there is no password */
export async function readPassword({ password, passwordStdin }: PasswordOptions): Promise<Secret> {
  const given = passwordStdin ? await readLine("the password") : (password ?? process.env.GIFTCARD_PASSWORD);
  if (given) return new Secret(given);
  throw new OperatorError("Give a password: --password-stdin, GIFTCARD_PASSWORD or --password.", exitCodes.usage);
}

/** Parses an email address, without a colon, which would end it in the Basic scheme. */
export function email(text: string): string {
  if (!/^[^\s@:]+@[^\s@:]+$/.test(text) || !isPrintable(text) || text.length > 254)
    throw new InvalidArgumentError("Give an email address.");
  return text;
}
