/**
 * Replaces the time, the timers, the random numbers and the encryption of this process, while code of a simulated process
 * runs. AES-GCM is Node's own, but without threads, whose order would differ in each run.
 */
import nodeCrypto, { createCipheriv, createDecipheriv } from "node:crypto";
import { syncBuiltinESMExports } from "node:module";
import timersPromises from "node:timers/promises";
import type { Clock } from "./clock.js";
import type { Random } from "./random.js";

/** The history that is running. */
interface Running {
  readonly clock: Clock;
  readonly random: Random;
}

let running: Running | undefined;

const real = {
  Date,
  setTimeout,
  clearTimeout,
  random: Math.random,
  performanceNow: performance.now,
  sleep: timersPromises.setTimeout,
  randomUUID: nodeCrypto.randomUUID,
  webRandomUUID: crypto.randomUUID,
  getRandomValues: crypto.getRandomValues,
  importKey: crypto.subtle.importKey,
  encrypt: crypto.subtle.encrypt,
  decrypt: crypto.subtle.decrypt,
};

class VirtualDate extends real.Date {
  constructor(...given: unknown[]) {
    if (given.length === 0) super(VirtualDate.now());
    else super(...(given as [number]));
  }
  static override now(): number {
    return running ? running.clock.now : real.Date.now();
  }
}

/** A timer of a simulated process. */
class Timer {
  constructor(readonly cancel: () => void) {}
  unref = () => this;
  ref = () => this;
  hasRef = () => true;
  refresh = () => this;
}

const isOurs = () => running?.clock.current !== undefined;

function virtualTimeout(run: (...args: unknown[]) => void, delayMs = 0, ...args: unknown[]) {
  if (!running || !isOurs()) return real.setTimeout(run, delayMs, ...args);
  return new Timer(running.clock.schedule(delayMs, () => run(...args), running.clock.current));
}

function virtualClear(timer: unknown): void {
  if (timer instanceof Timer) timer.cancel();
  else real.clearTimeout(timer as NodeJS.Timeout);
}

function virtualSleep(delayMs?: number, value?: unknown, options?: object): Promise<unknown> {
  if (!isOurs()) return real.sleep(delayMs, value, options);
  return new Promise((resolve) => virtualTimeout(() => resolve(value), delayMs));
}

const TAG_BYTES = 16;
/** The keys of the replaced encryption. */
class RawKey {
  readonly usages = ["encrypt", "decrypt"];
  constructor(
    readonly bytes: Uint8Array,
    readonly algorithm = { name: "AES-GCM", length: 8 * bytes.length },
  ) {}
}
interface GcmParams {
  readonly iv: Uint8Array;
  readonly additionalData?: Uint8Array;
}

async function importKey(...args: Parameters<SubtleCrypto["importKey"]>): Promise<unknown> {
  const [format, data, algorithm] = args as unknown as [string, Uint8Array, unknown];
  const name = typeof algorithm === "string" ? algorithm : (algorithm as { name?: string }).name;
  if (running && format === "raw" && name === "AES-GCM") return new RawKey(data);
  return Reflect.apply(real.importKey, crypto.subtle, args);
}

async function encrypt(params: GcmParams, key: unknown, data: Uint8Array): Promise<unknown> {
  if (!(key instanceof RawKey)) return Reflect.apply(real.encrypt, crypto.subtle, [params, key, data]);
  const cipher = createCipheriv(key.bytes.length === 32 ? "aes-256-gcm" : "aes-128-gcm", key.bytes, params.iv);
  if (params.additionalData) cipher.setAAD(params.additionalData);
  const sealed = Buffer.concat([cipher.update(data), cipher.final(), cipher.getAuthTag()]);
  return new Uint8Array(sealed).buffer;
}

async function decrypt(params: GcmParams, key: unknown, data: Uint8Array): Promise<unknown> {
  if (!(key instanceof RawKey)) return Reflect.apply(real.decrypt, crypto.subtle, [params, key, data]);
  const bytes = new Uint8Array(data);
  const cipher = createDecipheriv(key.bytes.length === 32 ? "aes-256-gcm" : "aes-128-gcm", key.bytes, params.iv);
  if (params.additionalData) cipher.setAAD(params.additionalData);
  cipher.setAuthTag(bytes.subarray(bytes.length - TAG_BYTES));
  const open = Buffer.concat([cipher.update(bytes.subarray(0, bytes.length - TAG_BYTES)), cipher.final()]);
  return new Uint8Array(open).buffer;
}

const put = (target: object, values: object) => {
  for (const [name, value] of Object.entries(values))
    Object.defineProperty(target, name, { value, configurable: true, writable: true });
};

/** Replaces them for the histories of `work`. */
export async function withVirtualGlobals<T>(work: () => Promise<T>): Promise<T> {
  const uuid = (otherwise: () => string) => () => (running ? running.random.uuid() : otherwise());
  put(globalThis, { Date: VirtualDate, setTimeout: virtualTimeout, clearTimeout: virtualClear });
  put(Math, { random: () => (running ? running.random.bits() / 2 ** 32 : real.random()) });
  put(performance, {
    now: () => (running ? running.clock.now - running.clock.startedAt : real.performanceNow.call(performance)),
  });
  put(timersPromises, { setTimeout: virtualSleep });
  put(nodeCrypto, { randomUUID: uuid(() => real.randomUUID()) });
  put(crypto, {
    randomUUID: uuid(() => real.webRandomUUID.call(crypto)),
    getRandomValues: (bytes: Uint8Array<ArrayBuffer>) =>
      running ? running.random.fill(bytes) : real.getRandomValues.call(crypto, bytes),
  });
  put(crypto.subtle, { importKey, encrypt, decrypt });
  syncBuiltinESMExports();
  try {
    return await work();
  } finally {
    put(globalThis, { Date: real.Date, setTimeout: real.setTimeout, clearTimeout: real.clearTimeout });
    put(Math, { random: real.random });
    put(timersPromises, { setTimeout: real.sleep });
    put(nodeCrypto, { randomUUID: real.randomUUID });
    for (const name of ["importKey", "encrypt", "decrypt"]) Reflect.deleteProperty(crypto.subtle, name);
    for (const name of ["randomUUID", "getRandomValues"]) Reflect.deleteProperty(crypto, name);
    Reflect.deleteProperty(performance, "now");
    syncBuiltinESMExports();
  }
}

/** Runs a history: what its code reads of time and chance is the history's. */
export async function during<T>(history: Running, work: () => Promise<T>): Promise<T> {
  running = history;
  try {
    return await work();
  } finally {
    running = undefined;
  }
}
