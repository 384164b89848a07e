import type { Heard } from "./shopper.js";

/** A difference that is intended. */
interface Allowed {
  readonly call: RegExp;
  /** The status of the shop without the plugin, and of the one with it; none for what isn't an answer. */
  readonly statuses?: readonly [plain: number, plugin: number];
  readonly reason: string;
}

/** Every intended difference between a shop with the plugin and one without, if nobody uses a gift card. */
export const allowed: readonly Allowed[] = [
  {
    call: /^paid anew: session/,
    statuses: [200, 400],
    reason: "Medusa deletes the session that holds the order's money, and so refunds it. The plugin refuses before.",
  },
  {
    call: /^open changes: cancel during/,
    statuses: [400, 400],
    reason:
      "Medusa notices the open change only after it has moved money. The plugin refuses before, and says what to do.",
  },
  {
    call: /: complete without stock$/,
    statuses: [400, 400],
    reason: "The refusal names the product instead of internal ids, and no order is created for it.",
  },
  {
    call: /^(the id (%00|cart%00x): |odd bodies: .*u0000)/,
    statuses: [500, 404],
    reason: "PostgreSQL stores no NUL. Medusa fails with an unknown error; the plugin finds nothing.",
  },
  {
    call: /^six carts at once for one unit: refusals$/,
    reason: "A page whose completion lost a race repeats it, and then learns that the product is sold out.",
  },
];

/** How many more statements a call may take with the plugin. */
const mostStatements = (call: string) => (/: complete/.test(call) ? 5 : 3);

export interface Comparison {
  readonly calls: number;
  /** How a shop with the plugin differs, apart from `allowed`. */
  readonly differences: readonly string[];
  /** The reasons of the allowed differences that were seen. */
  readonly reasons: readonly string[];
}

/** Compares what two shops answered to the same calls. */
export function compare(plain: readonly Heard[], plugin: readonly Heard[]): Comparison {
  const differences: string[] = [];
  const reasons = new Set<string>();
  if (plain.length !== plugin.length)
    differences.push(`${plain.length} calls without the plugin, ${plugin.length} with it`);
  for (const [index, without] of plain.entries()) {
    const beside = plugin[index];
    if (beside === undefined) break;
    const { call } = without;
    const more = beside.statements - without.statements;
    if (more > mostStatements(call))
      differences.push(`${call}: ${without.statements} statements without the plugin, ${beside.statements} with it`);
    if (textOf(without) === textOf(beside)) continue;
    const known = allowed.find((difference) => isAllowed(difference, without, beside));
    if (known) reasons.add(known.reason);
    else differences.push(`${call}:\n${firstDifference(textOf(without), textOf(beside))}`);
  }
  return { calls: plain.length, differences, reasons: [...reasons] };
}

const isAllowed = ({ call, statuses }: Allowed, plain: Heard, plugin: Heard) =>
  call.test(plain.call) &&
  plain.call === plugin.call &&
  (statuses === undefined || (plain.status === statuses[0] && plugin.status === statuses[1]));

const textOf = ({ call, status, body }: Heard) => JSON.stringify([call, status, body]);

/** Shows two texts from shortly before they differ. */
function firstDifference(without: string, beside: string): string {
  let at = 0;
  while (without[at] === beside[at]) at += 1;
  const from = Math.max(0, at - 80);
  return `  without …${without.slice(from, from + 300)}\n  with    …${beside.slice(from, from + 300)}`;
}
