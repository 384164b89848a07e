import fs from "node:fs";
import path from "node:path";
import { beforeAll, expect, test } from "vitest";
import { runCommand } from "../../../test/support/service.js";
import { exitCodes } from "../src/operator-error.js";
import { version } from "../src/version.js";

// The unit and the container file must match the program's options, commands, ports, exit codes and timeouts.

const folder = path.resolve(import.meta.dirname, "..");
const read = (name: string) => fs.readFileSync(path.join(folder, name), "utf8");
const unit = read("deploy/giftcard.service");
const container = read("deploy/Containerfile");
const install = read("../../docs/service-install.md");
const { engines, files } = JSON.parse(read("package.json"));

/** Returns all values of a setting in the unit. */
const settings = (name: string) =>
  [...unit.matchAll(new RegExp(`^${name}=(.*)$`, "gm"))].map(([, value]) => String(value));
/** Returns all values of an instruction in the container file, including continued lines. */
const instructions = (name: string) =>
  [...container.replaceAll("\\\n", " ").matchAll(new RegExp(`^${name} (.*)$`, "gm"))].map(([, rest]) => String(rest));
const environment = Object.fromEntries(
  instructions("ENV").flatMap((line) => line.split(/ +/).map((pair) => pair.split(/=(.*)/s).slice(0, 2))),
);

const helps: Record<string, string> = {};
beforeAll(async () => {
  for (const command of ["serve", "health"])
    helps[command] = (await runCommand([command, "--help"])).stdout.replaceAll(/\s+/g, " ");
});
/** Returns the default of an option of `serve`, from its help. */
const defaultOf = (setting: string) =>
  new RegExp(`\\(default: "?([^",)]+)"?, env: ${setting}\\)`).exec(String(helps.serve))?.[1];

test("the files are in the package", () => {
  expect(files).toContain("deploy");
  expect(fs.readdirSync(path.join(folder, "deploy")).sort()).toEqual([
    "Caddyfile",
    "Containerfile",
    "giftcard.service",
    "nginx.conf",
  ]);
});

test.each([
  ["the unit", unit],
  ["the container", container],
])("%s sets only variables that the program reads", (_where, text) => {
  const named = [...new Set(text.match(/\bGIFTCARD_[A-Z_]+\b/g))].filter((name) => !name.endsWith("_"));
  expect(named.length).toBeGreaterThan(1);
  const known = [...String(helps.serve).matchAll(/env: (GIFTCARD_\w+)/g)].map(([, name]) => name);
  expect(named.filter((name) => ![...known, "GIFTCARD_SECRETS_FILE"].includes(name))).toEqual([]);
});

test("the unit writes no core dumps, which would hold secrets", () => {
  expect(settings("LimitCORE")).toEqual(["0"]);
});

test("the unit uses existing commands and options", async () => {
  const lines = [...settings("ExecStart"), ...settings("ExecStartPost")];
  expect(lines).toHaveLength(2);
  for (const line of lines) {
    const [program, command, ...words] = line.split(" ");
    expect(path.basename(String(program))).toBe("giftcard-service");
    for (const option of words.filter((word) => word.startsWith("--")))
      expect(helps[String(command)]).toContain(` ${option} `);
  }
});

test("the container uses existing commands", () => {
  const [check] = instructions("HEALTHCHECK");
  expect(check).toContain('CMD ["giftcard-service", "health"]');
  expect([instructions("ENTRYPOINT"), instructions("CMD")]).toEqual([['["giftcard-service"]'], ['["serve"]']]);
});

test("the container exposes the ports that it listens on, on all addresses", () => {
  expect(environment.GIFTCARD_PORT).toBe(defaultOf("GIFTCARD_PORT"));
  const ports = [environment.GIFTCARD_PORT, environment.GIFTCARD_METRICS_PORT];
  expect(instructions("EXPOSE")).toEqual([ports.join(" ")]);
  expect([environment.GIFTCARD_HOST, environment.GIFTCARD_METRICS_HOST]).toEqual(["0.0.0.0", "0.0.0.0"]);
});

test("persistent data is on the volume, and in the unit's own folder", () => {
  const [volume] = instructions("VOLUME");
  expect(environment.GIFTCARD_DATA_DIR).toBe(volume);
  expect(environment.GIFTCARD_SECRETS_FILE).toBe(`${volume}/secrets.json`);
  const state = `/var/lib/${settings("StateDirectory")[0]}`;
  expect(settings("Environment")).toEqual(
    expect.arrayContaining([`GIFTCARD_DATA_DIR=${state}`, `GIFTCARD_SECRETS_FILE=${state}/secrets.json`]),
  );
  expect(settings("WorkingDirectory")).toEqual([state]);
});

test("neither the unit nor the container runs as root or contains a secret", () => {
  expect(settings("User")).toEqual(["giftcard"]);
  expect(settings("CapabilityBoundingSet")).toEqual([""]);
  const lastStage = container.slice(container.lastIndexOf("\nFROM "));
  expect(lastStage).toMatch(/^USER [1-9]\d*:[1-9]\d*$/m);
  expect(`${unit}${container}`).not.toMatch(/postgres:\/\/|password|apikey/i);
});

test("the unit and the documented container command allow enough time to shut down", async () => {
  const sources = ["src/http/server.ts", "src/postgres/server.ts"].map(read).join("\n");
  const seconds = (pattern: RegExp) => Number(pattern.exec(sources)?.[1]?.replace("_", "")) / 1000;
  const ofCalls = seconds(/DRAIN_TIMEOUT_MS = ([\d_]+)/);
  const ofDatabase = seconds(/\["SIGINT", ([\d_]+)\]/) + seconds(/\["SIGQUIT", ([\d_]+)\]/);
  const least = 2 * Number(defaultOf("GIFTCARD_STOP_GRACE")) + ofCalls + ofDatabase;
  expect(least).toBeGreaterThan(50);
  const [stop] = settings("TimeoutStopSec");
  expect(Number(stop)).toBeGreaterThan(least);
  expect(install).toContain(`podman stop --time ${stop}`);
  // Only the main process gets the signal. It stops the others.
  expect([settings("KillMode"), settings("KillSignal")]).toEqual([["mixed"], ["SIGTERM"]]);
  expect(instructions("STOPSIGNAL")).toEqual(["SIGTERM"]);
});

test("systemd restarts the unit, except after failures that no restart fixes", () => {
  expect(settings("Restart")).toEqual(["on-failure"]);
  expect(settings("RestartPreventExitStatus")).toEqual([`${exitCodes.usage} ${exitCodes.secretsMismatch}`]);
});

test("the container's Node.js is supported, and its packages come from a lockfile", () => {
  const base = /^ARG BASE=\S+\/node:(\d+)-/m.exec(container)?.[1];
  expect(engines.node).toMatch(/>=22\.12$/);
  expect(Number(base)).toBeGreaterThanOrEqual(22);
  expect(instructions("COPY")[0]).toBe("package.json package-lock.json ./");
  expect(instructions("RUN")[0]).toMatch(/^npm ci --omit=dev /);
});

test("docs/service-install.md names the paths of the files", () => {
  for (const name of ["giftcard.service", "Containerfile", "nginx.conf"])
    expect(install).toContain(`node_modules/@giftcard-pay/service/deploy/${name}`);
  expect(version).toMatch(/^\d/);
});
