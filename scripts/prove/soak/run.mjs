// Runs one soak: random calls on a few cards while processes and the database are killed. Then compares the books.
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { compareBooks } from "./books.mjs";
import { openStage } from "./stage.mjs";
import { isUnknown, openStorm } from "./storm.mjs";

const { cents, Secret } = await import("@giftcard-pay/client/contract");
const { createCompany } = await import("../../../packages/service/dist/store/accounts.js");
const { issueCards } = await import("../../../packages/service/dist/store/card-issue.js");

const PROCESSES = 2;
const CARD_CENTS = 500_000;
const KILL_EVERY_MS = 1000;

/**
 * @param {{ durationMs: number, clients?: number, cards?: number, seed?: number, say?: (text: string) => void,
 *   afterwards?: (books: Parameters<typeof compareBooks>[0]) => Promise<void> }} options
 * @returns what was done, and every difference between answers and ledger
 */
export async function soak({
  durationMs,
  clients = 64,
  cards = 20,
  seed = Date.now() % 2 ** 31,
  say = () => {},
  afterwards = async () => {},
}) {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), "giftcard-soak-"));
  const stage = await openStage({ folder, processes: PROCESSES, args: ["--calls-per-minute", "0"] });
  try {
    const { pool, keys, addresses } = stage;
    const account = { name: "Soak", email: "soak@example.nl", password: new Secret("soak") };
    const act = { operator: "soak", osUser: "soak", reason: undefined };
    const made = await createCompany(pool, account, act);
    const order = { count: cards, balanceCents: cents(CARD_CENTS), expiryDate: "2099-12-31" };
    const issued = await issueCards(pool, keys, order, act);
    const storm = openStorm({
      addresses,
      company: { companyId: made.companyId, apiKey: made.apiKey.reveal() },
      cards: issued.map((card) => ({ cardNumber: card.cardNumber.reveal(), pin: card.pin.reveal() })),
      random: randomFrom(seed),
    });
    const endAt = performance.now() + durationMs;
    const acting = Promise.all(Array.from({ length: clients }, () => storm.act(endAt)));
    const kills = await killUntil(endAt, stage, durationMs, say);
    await acting;
    await storm.settle();
    const differences = await compareBooks({ pool, keys, calls: storm.calls });
    await afterwards({ pool, keys, calls: storm.calls });
    const { calls } = storm;
    return {
      seed,
      calls: calls.length,
      devalues: calls.filter(({ kind, status, replayed }) => kind === "devalue" && status === 200 && !replayed).length,
      replays: calls.filter(({ replayed }) => replayed).length,
      reversals: calls.filter(({ kind, status }) => kind !== "devalue" && status === 200).length,
      unknown: calls.filter(isUnknown).length,
      ...kills,
      differences,
    };
  } finally {
    await stage.close();
    fs.rmSync(folder, { recursive: true, force: true });
  }
}

/**
 * Kills a process every second, alternating, and the database once, in the middle.
 * @param {number} endAt @param {Awaited<ReturnType<typeof openStage>>} stage @param {number} durationMs
 * @param {(text: string) => void} say
 */
async function killUntil(endAt, stage, durationMs, say) {
  let processKills = 0;
  let databaseKills = 0;
  /** Each process's latest start. @type {Promise<void>[]} */
  const restarts = Array.from({ length: PROCESSES }, () => Promise.resolve());
  while (performance.now() + KILL_EVERY_MS < endAt) {
    await sleep(KILL_EVERY_MS);
    if (databaseKills === 0 && endAt - performance.now() < durationMs / 2) {
      databaseKills += 1;
      say("the database is killed");
      restarts.push(stage.restartDatabase());
    }
    const index = processKills % PROCESSES;
    await restarts[index];
    restarts[index] = stage.restartService(index);
    processKills += 1;
  }
  await Promise.all(restarts);
  return { processKills, databaseKills };
}

/** Returns a seeded random number generator (mulberry32). @param {number} seed */
function randomFrom(seed) {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
