/** Tests the packed client and checkout in other runtimes than Node: Bun, Deno and workerd, against a real service. */
import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { cp, mkdir, readFile, writeFile } from "node:fs/promises";
import http from "node:http";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { rolldown } from "rolldown";
import { readBlocks } from "../check/markdown.mjs";
import { root } from "../lib/command.mjs";
import { freePort, runNode, startNode } from "../lib/process.mjs";
import { CleanUp, startCardService } from "../shops/card-service.mjs";
import { createDatabase } from "../shops/medusa-store.mjs";
import { outsideEnv, runNpm } from "./pack.mjs";

/** The tested releases, from npm. The READMEs state these versions. */
const releases = { bun: "1.4.5", deno: "2.9.6", workerd: "1.20261117.1" };
const PROGRAM = fileURLToPath(new URL("runtimes/", import.meta.url));

/** A Node program that runs another runtime. The runtime ends with this Node, and this Node ends with us. */
const INSTEAD = `require("node:child_process")
  .spawn(process.argv[1], process.argv.slice(2), { stdio: "inherit" })
  .on("exit", (code) => process.exit(code ?? 1));`;
const instead = (/** @type {string} */ program, /** @type {string[]} */ args) => [
  ...["--eval", INSTEAD, "--", program],
  ...args,
];

/** @typedef {import("./runtimes/program.mjs").Stage} Stage */
/** @typedef {Awaited<ReturnType<typeof import("./runtimes/program.mjs").tryAll>>} Seen */
/** @typedef {{ cwd: string, stage: Stage, signal: AbortSignal }} Try */

/**
 * The runtimes, and the failure that each reports if it can't connect. Some can't tell why there was no connection. The
 * client then treats the unsent call as lost, which is the safe choice.
 * @type {Record<string, { run: (one: Try) => Promise<string>, unconnected: object }>}
 */
const runtimes = {
  node: {
    run: ({ cwd, stage, signal }) => runNode({ ...program("Node", [], stage), cwd, signal }),
    unconnected: { code: "not_connected", reason: "refused" },
  },
  bun: {
    run: ({ cwd, stage, signal }) =>
      runNode({ ...program("Bun", instead(binary(cwd, "bun"), ["run"]), stage), cwd, signal }),
    unconnected: { code: "not_connected", reason: "refused" },
  },
  deno: {
    run: ({ cwd, stage, signal }) =>
      runNode({
        ...program("Deno", instead(binary(cwd, "deno"), ["run", "--allow-all"]), stage),
        cwd,
        signal,
      }),
    unconnected: { code: "connection_lost", reason: null },
  },
  workerd: { run: runWorker, unconnected: { code: "connection_lost", reason: null } },
};

/** @param {string} name @param {string[]} args @param {Stage} stage */
const program = (name, args, stage) => ({
  ...{ name, args: [...args, "command.mjs"] },
  env: { ...outsideEnv(), STAGE: JSON.stringify(stage) },
});

const binary = (/** @type {string} */ cwd, /** @type {string} */ name) => path.join(cwd, "node_modules", ".bin", name);

/**
 * Installs the tarballs and the runtimes into a new folder, and has each do the same: balance, devalue, cancel, a refusal,
 * a lost answer, an address where nothing listens, events, and a purchase on PostgreSQL that is reversed.
 *
 * @param {{ tarballs: Record<string, string>, folder: string }} options
 * @param {{ progress: (text: string) => void, signal: AbortSignal }} watched
 * @throws if a runtime's result is wrong
 */
export async function tryRuntimes({ tarballs, folder }, { progress, signal }) {
  progress("installing Bun, Deno and workerd");
  await cp(PROGRAM, folder, { recursive: true });
  await writeFile(path.join(folder, "package.json"), '{ "name": "runtimes", "private": true }\n');
  const { devDependencies } = JSON.parse(await readFile(path.join(root, "scripts/package.json"), "utf8"));
  const ours = ["client", "checkout"].map((name) => String(tarballs[`@giftcard-pay/${name}`]));
  const theirs = Object.entries({ ...releases, pg: devDependencies.pg }).map((one) => one.join("@"));
  await runNpm(["install", ...ours, ...theirs], { cwd: folder, signal });
  await tryQuickstart(folder, signal);
  const cleanUp = new CleanUp();
  try {
    const { service, serverUrl } = await startCardService({ cleanUp, progress, signal });
    const lossy = await startLossyNetwork(service.url);
    cleanUp.add(() => lossy.stop());
    const { id: providerId } = await service.createProvider("Tickets");
    const closedUrl = `http://127.0.0.1:${await freePort()}`;
    const { url, apiKey, companyId } = service;
    const sealingKey = randomBytes(32).toString("base64");
    for (const [name, { run, unconnected }] of Object.entries(runtimes)) {
      const { cardnumber: cardNumber, pin } = await service.issueCard(7500);
      const stage = {
        ...{ url, lossyUrl: lossy.url, closedUrl, apiKey, companyId, providerId, card: { cardNumber, pin } },
        ...{ databaseUrl: await createDatabase(serverUrl), sealingKey },
      };
      const before = lossy.devalues();
      check(name, JSON.parse(await run({ cwd: folder, stage, signal })), unconnected);
      const sent = lossy.devalues() - before;
      assert.equal(sent, 1, `${name} sent a devalue ${sent} times`);
      const release = name === "node" ? process.versions.node : releases[/** @type {"bun"} */ (name)];
      progress(`${name} ${release}: paid and refunded, by client and checkout`);
    }
  } finally {
    await cleanUp.run();
  }
}

/** Runs the quickstart of checkout's README on the runtimes that it names. @param {string} cwd @param {AbortSignal} signal */
async function tryQuickstart(cwd, signal) {
  const page = await readFile(path.join(root, "packages/checkout/README.md"), "utf8");
  const quickstart = String(readBlocks(page).find(({ words }) => words.includes("file=quickstart.mjs"))?.text);
  await writeFile(path.join(cwd, "quickstart.mjs"), quickstart);
  const starts = {
    Node: [],
    Bun: instead(binary(cwd, "bun"), ["run"]),
    Deno: instead(binary(cwd, "deno"), ["run", "--allow-all"]),
  };
  for (const [name, args] of Object.entries(starts)) {
    const program = { name: `the quickstart on ${name}`, args: [...args, "quickstart.mjs"], env: outsideEnv() };
    const printed = await runNode({ ...program, cwd, signal });
    assert.match(printed, /status: ['"]paid['"],[\s\S]*amountCents: 5000[\s\S]*remainderCents: 2498/, program.name);
  }
}

/**
 * Starts a proxy to the service that keeps connections open, and drops the answer of each devalue.
 * @param {string} serviceUrl
 */
async function startLossyNetwork(serviceUrl) {
  let devalues = 0;
  const server = http.createServer(async (request, response) => {
    const isDevalue = request.url?.endsWith("/devalue") ?? false;
    if (isDevalue) devalues += 1;
    const headers = /** @type {Record<string, string>} */ (request.headers);
    const { host: _, connection: __, "transfer-encoding": ___, "content-length": ____, ...passed } = headers;
    const body = Buffer.concat(await request.toArray());
    const answer = await fetch(`${serviceUrl}${request.url}`, { method: "POST", headers: passed, body });
    if (isDevalue) return void request.socket.destroy();
    response.writeHead(answer.status, { "content-type": "application/json" }).end(await answer.text());
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", () => resolve(null)));
  const { port } = /** @type {import("node:net").AddressInfo} */ (server.address());
  return {
    url: `http://127.0.0.1:${port}`,
    devalues: () => devalues,
    stop: async () => {
      server.close();
      server.closeAllConnections();
    },
  };
}

/** @param {string} name @param {Seen} seen @param {object} unconnected */
function check(name, { client: { events, ...client }, checkout }, unconnected) {
  assert.deepEqual(
    client,
    {
      ...{ balanceCents: 7500, deductedCents: 5000, remainderCents: 2498, refundedCents: 5000 },
      refused: { name: "RefusedError", code: "invalid_card", reason: null },
      lost: { name: "UnreachableError", code: "connection_lost", reason: null },
      outcome: "reversed",
      unconnected: { name: "UnreachableError", ...unconnected },
      isTokenHidden: true,
    },
    `the client in ${name}`,
  );
  // Each earlier runtime has also created one.
  for (const number of [1, 2, 3]) assert.ok(events.includes(`Night ${number}`), `events in ${name}`);
  assert.deepEqual(
    checkout,
    {
      ...{ coveredCents: 5000, status: "paid", remainderCents: 2498, paidCents: 2500 },
      ...{ charges: ["reversed"], balanceCents: 7500, givenBack: 1 },
    },
    `checkout in ${name}`,
  );
}

/** Bundles the program into one file, runs it as a worker, and calls it over HTTP. @param {Try} options */
async function runWorker({ cwd, stage, signal }) {
  await mkdir(path.join(cwd, "worker"), { recursive: true });
  const bundle = await rolldown({
    input: path.join(cwd, "worker.mjs"),
    external: /^(node|cloudflare):/,
    platform: "node",
    resolve: { conditionNames: ["workerd", "worker"] },
  });
  await bundle.write({
    ...{ file: path.join(cwd, "worker/worker.js"), format: "esm", codeSplitting: false },
    // pg requires what Node has: by a `require` that needs no address of its own, since a worker has none.
    ...{ polyfillRequire: false, banner: REQUIRE },
  });
  await bundle.close();
  await writeFile(path.join(cwd, "worker/config.capnp"), CONFIG);
  const args = ["serve", "config.capnp", "--socket-addr=http=127.0.0.1:0", "--control-fd=1"];
  const worker = await startNode({
    ...{ name: "workerd", args: instead(binary(cwd, "workerd"), args), cwd: path.join(cwd, "worker") },
    ...{ env: outsideEnv(), ready: /"socket":"http","port":(\d+)/, signal },
  });
  try {
    const body = JSON.stringify(stage);
    const answer = await fetch(`http://127.0.0.1:${worker.match[1]}`, { method: "POST", body, signal });
    const said = await answer.text();
    if (!answer.ok) throw new Error(`The worker failed:\n${said}\n${worker.logs().slice(-4000)}`);
    return said;
  } finally {
    await worker.stop();
  }
}

const REQUIRE = 'import { createRequire } from "node:module"; const require = createRequire("/");';

const CONFIG = `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [ (name = "main", worker = .worker), (name = "internet", network = (allow = ["public", "private"])) ],
  sockets = [ (name = "http", address = "127.0.0.1:0", http = (), service = "main") ],
);
const worker :Workerd.Worker = (
  modules = [ (name = "worker.js", esModule = embed "worker.js") ],
  compatibilityDate = "2026-11-01",
);
`;
