import type { Command } from "commander";
import { cardChanges } from "./card-change.js";
import { issue } from "./card-issue.js";
import { show } from "./card-show.js";

/** `card …` */
export function cardCommand(group: Command): Command {
  for (const one of [issue(), show(), ...cardChanges()]) group.addCommand(one);
  return group;
}
