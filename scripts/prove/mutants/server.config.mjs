/**
 * Mutants of one file of the plugin or the service. The environment names the package, the file and its tests. Stryker writes
 * all mutants of the file into the package's source, builds it once, and selects one mutant by an environment variable, which
 * Medusa and the service inherit. At the end it restores the source.
 */
const { MUTANTS_PACKAGE: name = "", MUTANTS_FILE: file = "", MUTANTS_TESTS: tests = "" } = process.env;
const report = `.cache/mutants/${name}/${file.replaceAll("/", "-")}`;

/** @type {import("@stryker-mutator/api/core").PartialStrykerOptions} */
export default {
  mutate: [`packages/${name}/src/${file}.ts`],
  inPlace: true,
  // Of this file alone: whatever Stryker writes, the script must restore if Stryker is killed.
  disableTypeChecks: `packages/${name}/src/${file}.ts`,
  buildCommand: `node scripts/build.mjs ${name}`,
  testRunner: "command",
  commandRunner: { command: `npx vitest run --bail=1 --project=${name} ${tests}` },
  coverageAnalysis: "off",
  // The tests of a package share its built files, and a machine its cores.
  concurrency: 1,
  timeoutMS: 120_000,
  timeoutFactor: 2,
  dryRunTimeoutMinutes: 30,
  incremental: true,
  incrementalFile: `${report}.incremental.json`,
  tempDirName: ".cache/mutants/backup",
  reporters: ["clear-text", "progress-append-only", "json"],
  clearTextReporter: { logTests: false, reportTests: false, allowColor: false },
  jsonReporter: { fileName: `${report}.json` },
  allowEmpty: false,
  thresholds: { high: 95, low: 80, break: 80 },
};
