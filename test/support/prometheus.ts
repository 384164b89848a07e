import { execFileSync, spawn } from "node:child_process";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { freePort } from "../../scripts/lib/process.mjs";

const STARTS_WITHIN_MS = 30_000;

/** An alert that is pending or firing. */
export interface FoundAlert {
  readonly state: "pending" | "firing";
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
}

/** A Prometheus that scrapes a service and evaluates rules, both twice a second. */
export interface Prometheus {
  alerts(): Promise<FoundAlert[]>;
  /** Returns the values of a query, one for each series. */
  query(expression: string): Promise<number[]>;
  stop(): Promise<void>;
}

/** Returns whether `prometheus` and `promtool` are installed. */
export function hasPrometheus(): boolean {
  try {
    for (const program of ["prometheus", "promtool"]) execFileSync(program, ["--version"], { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
}

/** Runs `promtool`. Returns its output. @throws with the output if it fails */
export function promtool(...args: string[]): string {
  try {
    return execFileSync("promtool", args, { encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] });
  } catch (error) {
    const { stdout, stderr } = error as { stdout: string; stderr: string };
    throw new Error(`promtool ${args.join(" ")} failed:\n${stdout}${stderr}`);
  }
}

/** @param target the `host:port` of the metrics, scraped as the job "giftcard" */
export async function startPrometheus(rules: string, target: string): Promise<Prometheus> {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), "giftcard-prometheus-"));
  const port = await freePort();
  const settings = {
    global: { scrape_interval: "500ms", scrape_timeout: "500ms", evaluation_interval: "500ms" },
    rule_files: ["rules.yml"],
    scrape_configs: [{ job_name: "giftcard", static_configs: [{ targets: [target] }] }],
  };
  // JSON is valid YAML.
  fs.writeFileSync(path.join(folder, "prometheus.yml"), JSON.stringify(settings));
  fs.writeFileSync(path.join(folder, "rules.yml"), rules);
  const args = [
    `--config.file=${path.join(folder, "prometheus.yml")}`,
    `--storage.tsdb.path=${path.join(folder, "data")}`,
    `--web.listen-address=127.0.0.1:${port}`,
  ];
  const child = spawn("prometheus", args, { cwd: folder, stdio: ["ignore", "ignore", "pipe"] });
  let said = "";
  child.stderr.on("data", (chunk) => (said += chunk));
  const ended = new Promise((resolve) => child.once("close", resolve));
  const endNow = () => void child.kill("SIGKILL");
  process.once("exit", endNow);
  const stop = async () => {
    child.kill("SIGTERM");
    await ended;
    process.removeListener("exit", endNow);
    fs.rmSync(folder, { recursive: true, force: true });
  };
  const url = `http://127.0.0.1:${port}`;
  const isReady = () =>
    fetch(`${url}/-/ready`).then(
      ({ ok }) => ok,
      () => false,
    );
  for (const giveUpAt = Date.now() + STARTS_WITHIN_MS; !(await isReady()); await sleep(50)) {
    if (Date.now() < giveUpAt && child.exitCode === null) continue;
    await stop();
    throw new Error(`Prometheus did not start:\n${said}`);
  }
  const get = async (target: string) => {
    const answer = (await (await fetch(`${url}/api/v1/${target}`)).json()) as { data: never; error?: string };
    if (answer.error) throw new Error(answer.error);
    return answer.data;
  };
  return {
    async alerts() {
      return ((await get("alerts")) as { alerts: FoundAlert[] }).alerts;
    },
    async query(expression) {
      const { result } = (await get(`query?query=${encodeURIComponent(expression)}`)) as {
        result: { value: [number, string] }[];
      };
      return result.map(({ value }) => Number(value[1]));
    },
    stop,
  };
}
