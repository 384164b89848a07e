/** The table of a run of mutation tests. */

/** @typedef {{ files: Record<string, { mutants: readonly { status: string }[] }> }} Report Stryker's JSON report */

/** @param {Report} report @returns {string} */
export function mutantsTable({ files }) {
  const all = Object.values(files).flatMap(({ mutants }) => mutants);
  const count = (/** @type {string} */ status) => all.filter((mutant) => mutant.status === status).length;
  const counts = ["Killed", "Timeout", "Survived", "NoCoverage"].map(count);
  const [killed = 0, timedOut = 0] = counts;
  const valid = counts.reduce((sum, one) => sum + one, 0);
  const cells = [
    `${Object.keys(files).length} files`,
    ...[valid, ...counts].map((one) => one.toLocaleString("en")),
    `${Math.floor((100 * (killed + timedOut)) / valid)} %`,
  ];
  return [
    "| | Mutants | Noticed | Timed out | Survived | Never reached | Score |",
    "|---|---|---|---|---|---|---|",
    `| ${cells.join(" | ")} |`,
  ].join("\n");
}
