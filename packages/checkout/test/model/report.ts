import type { ModelResult } from "./run.js";
import type { Finding } from "./tally.js";

const textOf = ({ kind, text, store, method, seed, path, sequence, log, times }: Finding) =>
  [
    `\n${kind}, ${times} times; first on ${store}, with --remainder ${method} --seed ${seed} --path ${path}`,
    `  ${text}`,
    ...log.map((line) => `    ${line}`),
    `  npm run prove -- model --store ${store} --remainder ${method} --steps '${JSON.stringify(sequence)}'`,
  ].join("\n");

/** Formats a run: each kind of violation with its shortest sequence, and the counts. */
export function modelReport(result: ModelResult): string {
  const { seed, sequences, orders, violations, findings, outcomes, plays, seconds } = result;
  const seen = Object.entries(outcomes).sort(([, a], [, b]) => b - a);
  return [
    ...seen.map(([outcome, times]) => `${String(times).padStart(7)}  ${outcome}`),
    ...findings.map(textOf),
    `${sequences} sequences, ${orders} orders, ${violations} violations (seed ${seed}, ${plays} played, ${Math.round(seconds)} s)`,
  ].join("\n");
}
