/** Runs a proof: a long test of the whole system under faults, crashes, load or random use. */
import { command, runSubcommand, UsageError } from "./lib/command.mjs";

/** Each proof's description and duration. */
const proofs = /** @type {const} */ ({
  faults: ["buys through every fault at every step, and proves the books", "20 minutes; --vendure: 10"],
  people: ["random shoppers and admins at the same time", "10 minutes; --vendure: 10"],
  carts: ["buys random carts with VAT and promotions, and refunds every unit", "30 minutes; --vendure: 15"],
  beside: ["makes the same calls to a Medusa with the plugin and one without, and compares", "10 minutes"],
  "on-sale": ["sells a show to three times as many buyers as it has seats", "2 minutes"],
  "bulk-refund": ["refunds 1,000 orders while processes crash", "an hour"],
  model: ["plays 10,000 random sequences with Stripe or Mollie against the checkout library", "20 minutes"],
  simulation: ["plays 100,000 histories of the checkout library in virtual time, and finds every defect", "15 minutes"],
  soak: ["random calls to the service while its processes are killed", "2 minutes"],
  failover: ["sells while primaries fail and standbys take over", "2 minutes"],
  pgbouncer: ["the service's contract and races through an installed PgBouncer", "2 minutes"],
  malformed: ["malformed input to the service", "a minute"],
  mutants: ["mutation tests of the code that decides about money", "1 to 2 hours"],
  nextjs: ["buys in a copy of Medusa's Next.js storefront", "5 minutes"],
});

const lines = Object.entries(proofs).map(([name, [about, time]]) => `  ${name.padEnd(12)} ${about} (${time})`);
const HELP = `Runs a proof. Exits with 1 if a promise is broken.

  npm run prove -- faults          runs this proof
  npm run prove -- faults --help   lists its options

${lines.join("\n")}
`;

if (!(await runSubcommand(Object.keys(proofs), new URL("prove/", import.meta.url))))
  await command({ help: HELP, positionals: true }, async ({ positionals: [name] }) => {
    throw new UsageError(name === undefined ? "Name a proof." : `There is no proof "${name}".`);
  });
