/** An npm registry on this machine, only for the packages of this repository. */
import { randomBytes } from "node:crypto";
import { mkdir, writeFile } from "node:fs/promises";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { installLocked } from "../lib/locked-folder.mjs";
import { freePort, startNode } from "../lib/process.mjs";
import { OURS_FROM } from "./pack.mjs";

const home = fileURLToPath(new URL("registry/", import.meta.url));

/**
 * Starts Verdaccio on a free port of 127.0.0.1, without an upstream registry.
 *
 * @param {object} options
 * @param {string} options.folder the storage of published packages
 * @param {(text: string) => void} options.say
 * @param {AbortSignal} [options.signal]
 * @returns its address, the npm environment for publishing to it, and a function that stops it
 */
export async function startRegistry({ folder, say, signal }) {
  await installLocked({ home, what: "Verdaccio, a registry", say, ...(signal && { signal }) });
  await mkdir(folder, { recursive: true });
  const port = await freePort();
  const file = path.join(folder, "config.yaml");
  // JSON is YAML too.
  const config = {
    storage: path.join(folder, "packages"),
    web: { enable: false },
    uplinks: {},
    auth: { htpasswd: { file: path.join(folder, "htpasswd") } },
    packages: { "@giftcard-pay/*": { access: "$all", publish: "$authenticated" } },
    log: { type: "stdout", format: "json", level: "info" },
  };
  await writeFile(file, JSON.stringify(config));
  const { stop } = await startNode({
    name: "The registry",
    args: [
      path.join(home, "node_modules/verdaccio/bin/verdaccio"),
      ...["--config", file, "--listen", `127.0.0.1:${port}`],
    ],
    cwd: folder,
    ready: /http address/,
    ...(signal && { signal }),
  });
  const host = `127.0.0.1:${port}/`;
  const url = `http://${host}`;
  const token = await makeUser(url).catch(async (error) => {
    await stop();
    throw error;
  });
  return {
    url,
    publishEnv: { [`npm_config_//${host}:_authToken`]: token },
    /** Points every npm that this process starts later to this registry for our packages. */
    use: () => void (process.env[OURS_FROM] = url),
    async stop() {
      if (process.env[OURS_FROM] === url) delete process.env[OURS_FROM];
      await stop();
    },
  };
}

/** Creates a user, as `npm adduser` does. @param {string} url @returns {Promise<string>} a token */
async function makeUser(url) {
  const user = { name: "publisher", password: randomBytes(16).toString("hex") };
  const answer = await fetch(`${url}-/user/org.couchdb.user:${user.name}`, {
    method: "PUT",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(user),
  });
  const { token } = /** @type {{ token?: string }} */ (await answer.json());
  if (token === undefined) throw new Error(`The registry created no user: it answered ${answer.status}.`);
  return token;
}
