// How much right calls slow down while somebody guesses PINs.
import { setTimeout as sleep } from "node:timers/promises";

/**
 * What is measured: calls that come at a steady rate, whether the ones before them were answered or not.
 * @typedef {object} Guessing
 * @property {() => Promise<unknown>} right a call that succeeds
 * @property {() => Promise<unknown>} wrong a guess; its refusal is no failure
 * @property {number} perSecond right calls a second: half of what the service can do
 * @property {number} [guessesPerSecond]
 * @property {number} [rounds]
 * @property {number} [roundMs]
 */

/**
 * Starts a call at each tick of a steady clock, and gives how long each took, in milliseconds.
 * @param {() => Promise<unknown>} call
 * @param {number} perSecond
 * @param {number} durationMs
 */
async function callSteadily(call, perSecond, durationMs) {
  /** @type {Promise<number>[]} */
  const calls = [];
  const startedAt = performance.now();
  for (let now = startedAt; now < startedAt + durationMs; now = performance.now()) {
    // Timers are late; what is due by now is started together.
    while (calls.length < ((now - startedAt) / 1000) * perSecond) {
      const at = performance.now();
      calls.push(call().then(() => performance.now() - at));
    }
    await sleep(1);
  }
  return Promise.all(calls);
}

/** @param {number[]} times */
const median = (times) => times.toSorted((a, b) => a - b)[Math.floor(times.length / 2)] ?? Number.NaN;

/**
 * Compares right calls alone with right calls beside guesses, in turns.
 *
 * @param {Guessing} guessing
 * @returns {Promise<{ guessedRatio: number, aloneMs: number, guessedMs: number }>} the ratio of the median times: 1 when
 * guesses slow nothing, 0.91 when right calls take a tenth longer
 */
export async function measureGuesses({
  right,
  wrong,
  perSecond,
  guessesPerSecond = 50,
  rounds = 4,
  roundMs = 3000,
}) {
  /** @type {number[]} */
  const alone = [];
  /** @type {number[]} */
  const guessed = [];
  // The first round warms up.
  for (let round = 0; round <= rounds; round++) {
    const withoutGuesses = await callSteadily(right, perSecond, roundMs);
    const [withGuesses] = await Promise.all([
      callSteadily(right, perSecond, roundMs),
      callSteadily(wrong, guessesPerSecond, roundMs),
    ]);
    if (round === 0) continue;
    alone.push(...withoutGuesses);
    guessed.push(...withGuesses);
  }
  const [aloneMs, guessedMs] = [median(alone), median(guessed)];
  return { guessedRatio: aloneMs / guessedMs, aloneMs, guessedMs };
}
