import { execFile } from "node:child_process";
import path from "node:path";
import { promisify } from "node:util";
import { expect, it } from "vitest";
import { scripts } from "../../package.json" with { type: "json" };

const run = promisify(execFile);
const root = path.resolve(import.meta.dirname, "../..");

const programs = Object.values(scripts).flatMap((script) => /^node (\S+)$/.exec(script)?.[1] ?? []);

it.each(programs)("%s shows its help", async (program) => {
  const { stdout, stderr } = await run(process.execPath, [program, "--help"], { cwd: root });
  expect([stdout, stderr]).toEqual([expect.stringMatching(/^ {2}npm (run|test) ?/m), ""]);
});

it("a command that loads the tests' TypeScript also loads the packages", async () => {
  const { stdout } = await run(process.execPath, ["scripts/prove/faults.mjs", "--list"], { cwd: root });
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
  const program = 'import "./scripts/command.mjs"; console.log(JSON.stringify(process.env))';
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
