/** Reports where the time of a test run went. */
import { readFile } from "node:fs/promises";
import path from "node:path";
import { root } from "../lib/command.mjs";
import { readCpuSeconds } from "../lib/process/times.mjs";
import { suites } from "./suites.mjs";

const SLOWEST = 25;

/** A test file, as vitest's JSON reporter has it. @typedef {{ name: string, startTime: number, endTime: number }} FileResult */

/** @param {number} seconds */
const inSeconds = (seconds) => seconds.toFixed(1).padStart(8);

/**
 * @param {{ file: string, results: FileResult[], buildMs: number }} run `file` as `recordTime` has written it
 * @returns {Promise<string>}
 */
export async function reportTimes({ file, results, buildMs }) {
  const records = (await readFile(file, "utf8"))
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));
  const relative = (/** @type {string} */ name) => path.relative(root, name).replaceAll(path.sep, "/");
  const wall = new Map(results.map(({ name, startTime, endTime }) => [relative(name), (endTime - startTime) / 1000]));
  /** @type {Map<string, number>} */
  const cpu = new Map();
  /** @type {Map<string, number[]>} */
  const processes = new Map();
  for (const record of records) {
    if (record.process) processes.set(record.process, [...(processes.get(record.process) ?? []), record.ms]);
    else {
      const name = path.isAbsolute(record.file) ? relative(record.file) : record.file;
      cpu.set(name, (cpu.get(name) ?? 0) + (record.cpuSeconds ?? 0));
    }
  }
  const files = [...wall].map(([name, seconds]) => ({ name, seconds, cpu: cpu.get(name) ?? 0 }));
  const sums = Object.entries(suites).map(([name, { folder }]) => {
    const own = files.filter((one) => one.name.startsWith(`${folder}/`));
    return {
      name,
      count: own.length,
      cpu: sum(own.map((one) => one.cpu)),
      seconds: sum(own.map((one) => one.seconds)),
    };
  });
  const started = [...processes].map(([name, all]) => ({
    name,
    count: all.length,
    seconds: sum(all) / 1000,
  }));
  return [
    "\nprocessor       wall  of each suite's files, in seconds",
    ...sums
      .filter(({ count }) => count > 0)
      .map((one) => `${inSeconds(one.cpu)} ${inSeconds(one.seconds)}  ${one.name} (${one.count} files)`),
    `${inSeconds(cpu.get("PostgreSQL") ?? 0)}           PostgreSQL`,
    `${inSeconds(readCpuSeconds("self") ?? 0)}           all of it, with PostgreSQL, building and pages, but without shared shops`,
    `         ${inSeconds(buildMs / 1000)}  building`,
    "\nprocessor       wall  of the slowest files",
    ...files
      .sort((a, b) => b.cpu - a.cpu || b.seconds - a.seconds)
      .slice(0, SLOWEST)
      .map((one) => `${inSeconds(one.cpu)} ${inSeconds(one.seconds)}  ${one.name}`),
    "\n   count       wall  of started processes, until they were ready or had ended",
    ...started
      .sort((a, b) => b.seconds - a.seconds)
      .slice(0, SLOWEST)
      .map((one) => `${String(one.count).padStart(8)} ${inSeconds(one.seconds)}  ${one.name}`),
  ].join("\n");
}

/** @param {number[]} numbers */
const sum = (numbers) => numbers.reduce((total, number) => total + number, 0);
