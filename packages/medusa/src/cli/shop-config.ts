import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";
import type { GiftcardOptions } from "../options.js";
import { CommandFailure } from "./failure.js";

/** The parts of Medusa's configuration that the commands use. */
export interface ShopConfig {
  projectConfig?: { databaseUrl?: string; databaseDriverOptions?: object };
  plugins?: { resolve?: string; options?: Partial<GiftcardOptions> }[];
}

const BUILD = path.join(".medusa", "server", "medusa-config.js");

/** In Medusa's own order of preference. A build can be older than its source, with sealing keys of that time. */
const FILES = ["medusa-config.js", "medusa-config.ts", BUILD];

const NO_TS_NODE =
  "ts-node isn't installed, with which Medusa reads it too. Install the shop's devDependencies, or run the command in " +
  ".medusa/server, which `medusa build` creates.";

/**
 * Reads the shop's configuration, and prints on standard error which file it is.
 * @param directory the shop's folder
 * @returns undefined if the folder has no configuration
 * @throws {CommandFailure} if the file can't be read
 */
export function readConfig(directory: string): ShopConfig | undefined {
  const found = FILES.filter((name) => existsSync(path.join(directory, name)));
  const [name] = found;
  if (name === undefined) return undefined;
  const isBuildIgnored = name !== BUILD && found.includes(BUILD);
  process.stderr.write(
    `configuration: ${path.join(directory, name)}${isBuildIgnored ? ", not the build in .medusa/server" : ""}\n`,
  );
  if (name.endsWith(".ts")) registerTsNode(directory);
  try {
    const read = require(path.join(directory, name)) as ShopConfig & { default?: ShopConfig };
    return read.default ?? read;
  } catch (error) {
    // The message may contain a secret of the configuration.
    const code = (error as { code?: string }).code ?? (error as Error).name;
    throw new CommandFailure(`${name} can't be read (${code}).`, 2);
  }
}

/** Makes `require` compile TypeScript as Medusa does: by the shop's own ts-node. */
function registerTsNode(directory: string): void {
  const requireFromShop = createRequire(path.join(directory, "package.json"));
  let tsNode: { register(options: { cwd: string; transpileOnly: boolean }): void };
  try {
    tsNode = requireFromShop("ts-node");
  } catch {
    throw new CommandFailure(`medusa-config.ts can't be read: ${NO_TS_NODE}`, 2);
  }
  tsNode.register({ cwd: directory, transpileOnly: true });
}
