import type { Command } from "commander";
import { cardChanges } from "./card-change.js";
import { find } from "./card-find.js";
import { issue } from "./card-issue.js";
import { show } from "./card-show.js";
import { cardStock } from "./card-stock.js";

/** `card …` */
export function cardCommand(group: Command): Command {
  for (const one of [issue(), show(), find(), ...cardStock(), ...cardChanges()]) group.addCommand(one);
  return group;
}
