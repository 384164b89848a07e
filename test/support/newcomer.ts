import { execFile } from "node:child_process";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import { promisify } from "node:util";
import { startNode } from "../../scripts/lib/process.mjs";
import { outsideEnv, packPackages } from "../../scripts/packed/pack.mjs";
import { type Block, readBlocks } from "./page-blocks.js";

/** A reader who follows guides block by block, in a folder with only the packages that npm installs. */
export interface Newcomer {
  readonly folder: string;
  /** The variables that the guides export. */
  readonly env: Record<string, string>;
  readonly blocks: readonly Block[];
  /** Returns the only block that contains this text, and marks it as run. */
  take(text: string): string;
  /** Returns a file of the guides, and marks it as run. */
  takeFile(file: string): string;
  shell(script: string): Promise<{ stdout: string }>;
  /** Starts a long-running script. It is stopped at the end of the tests. */
  serve(name: string, script: string): Promise<Serving>;
  program(file: string, ...args: string[]): Promise<string>;
  /** Runs a few lines that import the guides' files. */
  evaluate(script: string): Promise<string>;
  /** Starts a service with a company and a card of 75.00, as in docs/any-shop.md, and puts their settings into `env`. */
  openService(): Promise<Service>;
  issueCard(): Promise<Card>;
  /** Returns the files and commands that were not run. */
  left(): readonly Block[];
  /** Registers a cleanup for `close`, which runs the latest first. */
  atEnd(close: () => Promise<unknown>): void;
  close(): Promise<void>;
}

export interface Serving {
  readonly url: string;
  readonly pid: number;
  logs(): string;
  stop(): Promise<number | null>;
  kill(): Promise<number | null>;
}

export interface Card {
  readonly cardNumber: string;
  readonly pin: string;
}

export interface Service {
  readonly url: string;
  readonly company: { readonly id: string; readonly apiKey: string };
  readonly card: Card;
}

/** Replaces the placeholders that a reader fills in. @throws {Error} if the text lacks one */
export function fillIn(text: string, values: Record<string, string>): string {
  let filled = text;
  for (const [placeholder, value] of Object.entries(values)) {
    if (!filled.includes(placeholder)) throw new Error(`The text doesn't contain "${placeholder}".`);
    filled = filled.replace(placeholder, () => value);
  }
  return filled;
}

/** Packs the packages and opens an empty project. @param pages the guides, by their paths in the repository */
export async function openNewcomer(pages: readonly string[]): Promise<Newcomer> {
  const closers: (() => Promise<unknown>)[] = [];
  const blocks = (await Promise.all(pages.map(readBlocks))).flat();
  const folder = await mkdtemp(path.join(os.tmpdir(), "giftcard-newcomer-"));
  closers.push(() => rm(folder, { recursive: true, force: true }));
  const tarballs = await mkdtemp(path.join(os.tmpdir(), "giftcard-tarballs-"));
  closers.push(() => rm(tarballs, { recursive: true, force: true }));
  const packed = await packPackages(["client", "checkout", "events", "service", "widget"], tarballs);
  // The pages don't name the events package: once it is published, npm installs it as a dependency of the service.
  const needed: Record<string, string> = { "@giftcard-pay/service": `'${packed["@giftcard-pay/events"]}'` };
  // Makes npm install our packages from tarballs under the names in the pages. Everything else is unchanged.
  const cases = Object.entries(packed).map(([name, file]) => `${name}) set -- "$@" '${file}' ${needed[name] ?? ""} ;;`);
  const shims = `npm() {
    for word; do
      shift
      case "$word" in ${cases.join(" ")} *) set -- "$@" "$word" ;; esac
    done
    command npm "$@"
  }\n`;
  const env: Record<string, string> = { ...outsideEnv(), GIFTCARD_PORT: "0" };
  for (const { file, text } of blocks) {
    if (!file) continue;
    await mkdir(path.dirname(path.join(folder, file)), { recursive: true });
    await writeFile(path.join(folder, file), text);
  }
  const run = new Set<Block>();

  function take(text: string): string {
    const [block, ...others] = blocks.filter((one) => !one.file && one.text.includes(text));
    if (!block || others.length > 0) throw new Error(`No block, or more than one, contains "${text}".`);
    run.add(block);
    return block.text;
  }

  function takeFile(file: string): string {
    const [block, ...others] = blocks.filter((one) => one.file === file);
    if (!block || others.length > 0) throw new Error(`No block, or more than one, is ${file}.`);
    run.add(block);
    return block.text;
  }

  const shell = (script: string) => promisify(execFile)("sh", ["-euc", shims + script], { cwd: folder, env });

  async function serve(name: string, script: string): Promise<Serving> {
    const inShell = `const [script, env] = process.argv.slice(1);
      require("node:child_process").spawn("sh", ["-euc", script], { stdio: "inherit", env: JSON.parse(env) });`;
    const args = ["--eval", inShell, shims + script, JSON.stringify(env)];
    const { match, ...serving } = await startNode({
      name,
      args,
      cwd: folder,
      ready: /ready at (http[^\s"]+)/,
    });
    closers.push(serving.stop);
    return { ...serving, url: String(match[1]) };
  }

  async function program(file: string, ...args: string[]): Promise<string> {
    if (blocks.some((block) => block.file === file)) takeFile(file);
    return (await promisify(execFile)(process.execPath, [file, ...args], { cwd: folder, env })).stdout;
  }

  async function openService(): Promise<Service> {
    await shell(take("npm install @giftcard-pay"));
    const { url } = await serve("The gift card service", take("giftcard-service serve"));
    const { stdout } = await shell(take("giftcard-service company create"));
    const find = (pattern: RegExp) => stdout.match(pattern)?.[1] ?? `${pattern} isn't in ${stdout}`;
    const company = { id: find(/company_id\s+(\d+)/), apiKey: find(/apikey\s+(\S+)/) };
    const settings = fillIn(take("SEALING_KEY=$(openssl"), {
      "http://127.0.0.1:8080": url,
      "GIFTCARD_COMPANY_ID=1": `GIFTCARD_COMPANY_ID=${company.id}`,
      "paste-it-here": company.apiKey,
    });
    for (const line of (await shell(`${settings}printenv`)).stdout.split("\n")) {
      const [name = "", ...value] = line.split("=");
      if (/^(GIFTCARD|SEALING)_/.test(name)) env[name] = value.join("=");
    }
    return { url, company, card: { cardNumber: find(/\b(\d{19})\b/), pin: find(/\b(\d{6})\b/) } };
  }

  return {
    ...{ folder, env, blocks, take, takeFile, shell, serve, program, openService },
    evaluate: async (script) => (await program("--input-type=module", "--eval", script)).trim(),
    async issueCard() {
      const { stdout } = await shell("npx giftcard-service card issue --balance 7500 --json");
      const { cardnumber, pin } = JSON.parse(stdout);
      return { cardNumber: cardnumber, pin };
    },
    left: () => blocks.filter((block) => !block.isShown && !run.has(block)),
    atEnd: (close) => void closers.push(close),
    async close() {
      for (const close of closers.splice(0).reverse()) await close();
    },
  };
}
