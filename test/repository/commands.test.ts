// @module-tag long

import { execFile } from "node:child_process";
import { readdirSync } from "node:fs";
import path from "node:path";
import { promisify } from "node:util";
import { expect, it } from "vitest";
import { scripts } from "../../package.json" with { type: "json" };

const run = promisify(execFile);
const root = path.resolve(import.meta.dirname, "../..");

const proofs = readdirSync(path.join(root, "scripts/prove"))
  .filter((file) => file.endsWith(".mjs"))
  .map((file) => path.basename(file, ".mjs"));
const programs = Object.values(scripts).flatMap((script) => /^node (\S+)$/.exec(script)?.[1] ?? []);
const subcommands = ["docs schema", "docs sizes", "release version", ...proofs.map((name) => `prove ${name}`)];

const helpOf = (command: string) => run(process.execPath, [...command.split(" "), "--help"], { cwd: root });

it.each([...programs, ...subcommands.map((name) => `scripts/${name.replace(" ", ".mjs ")}`)])(
  "%s shows its help",
  async (command) => {
    const { stdout, stderr } = await helpOf(command);
    expect([stdout, stderr]).toEqual([expect.stringMatching(/^ {2}npm (run|test) ?/m), ""]);
  },
);

it("the help of prove lists every proof with its duration", async () => {
  const { stdout } = await helpOf("scripts/prove.mjs");
  const listed = [...stdout.matchAll(/^ {2}(\S+) +\S.*\(.*(?:minute|hour).*\)$/gm)].map(([, name]) => name);
  expect(listed.sort()).toEqual(proofs.sort());
});

it("a command that loads the tests' TypeScript also loads the packages", async () => {
  const { stdout } = await run(process.execPath, ["scripts/prove.mjs", "faults", "--list"], { cwd: root });
  expect(stdout.trim().split("\n").length).toBeGreaterThan(900);
});

it("commands hide a developer's settings from the processes they start, and bypass the proxy for loopback", async () => {
  const kept = { HTTPS_PROXY: "http://proxy.example", GIFTCARD_TEST_DOOR: "127.0.0.1:1", TZ: "Asia/Tokyo" };
  const dropped = {
    ...{
      PGHOST: "nowhere.invalid",
      PGSSLMODE: "require",
      DATABASE_URL: "postgres://x",
      REDIS_URL: "redis://x",
    },
    ...{ NODE_ENV: "production", PORT: "3000", HOST: "x", LOG_LEVEL: "error", MEDUSA_WORKER_MODE: "worker" },
    ...{ GIFTCARD_DATABASE_URL: "postgres://x", GIFTCARD_API_KEY: "x", STORE_CORS: "x", JWT_SECRET: "x" },
    GIT_DIR: "/elsewhere/.git",
    NODE_USE_ENV_PROXY: "1",
  };
  const program = 'import "./scripts/lib/command.mjs"; console.log(JSON.stringify(process.env))';
  const { stdout } = await run(process.execPath, ["--input-type=module", "--eval", program], {
    cwd: root,
    env: { ...process.env, no_proxy: undefined, NO_PROXY: "intern.example", ...kept, ...dropped },
  });
  const env = JSON.parse(stdout);
  expect(env).toMatchObject({ ...kept, PATH: process.env.PATH });
  expect(Object.keys(dropped).filter((name) => name in env)).toEqual([]);
  const direct = "intern.example,localhost,127.0.0.1,::1";
  expect([env.NO_PROXY, env.no_proxy]).toEqual([direct, direct]);
});
