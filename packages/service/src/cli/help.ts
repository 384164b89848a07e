import { type Command, Help, type Option } from "commander";

/** The heading of the common options, which are listed after a command's own. */
export const COMMON_OPTIONS = "Options of most commands:";

const commander = new Help();

/** Styles the help and the errors of a command and its subcommands. */
export function styleHelp(command: Command, words = command.name()): void {
  command
    .helpOption("-h, --help", "show this help")
    .showHelpAfterError(`\`${words} --help\` lists its options.`)
    .configureHelp({ optionDescription, groupItems });
  for (const child of command.commands) styleHelp(child, `${words} ${child.name()}`);
}

function optionDescription(option: Option): string {
  const text = commander.optionDescription(option).replace(/ ?\(default: false\)$/, "");
  return option.mandatory ? `${text} (required)` : text;
}

const groupItems: Help["groupItems"] = (all, visible, groupOf) => {
  const groups = commander.groupItems(all, visible, groupOf);
  const common = groups.get(COMMON_OPTIONS);
  if (common && groups.delete(COMMON_OPTIONS)) groups.set(COMMON_OPTIONS, common);
  return groups;
};
