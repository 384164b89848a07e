import { type Command, Help, type Option } from "commander";

/** The heading of what nearly every command takes: it stands behind a command's own options. */
export const COMMON_OPTIONS = "Options of most commands:";

const commander = new Help();

/** Tells a command, and all below it, how its help and its errors look. */
export function styleHelp(command: Command, words = command.name()): void {
  command
    .helpOption("-h, --help", "show this help")
    .showHelpAfterError(`\`${words} --help\` shows what it takes.`)
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
