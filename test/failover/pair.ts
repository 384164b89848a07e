import { randomBytes } from "node:crypto";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { freePort } from "../../scripts/process.mjs";
import { Member, type Site, USER } from "./member.js";

/** What may happen to a primary. */
export type Fault = "killed" | "silent";

const IN_STEP_WITHIN_MS = 60_000;
/** So long a primary goes on without its standby before it goes: what it answers alone would be lost. */
const ALONE_MS = 300;

/** A primary and a synchronous standby, which takes over when we say so. */
export interface Pair {
  /** Both hosts in one address. Holds the password. */
  readonly url: string;
  readonly primary: Member;
  readonly standby: Member;
  /**
   * Cuts the two apart, ends the primary or silences it, and promotes the standby: alone, it waits for nobody with its
   * commits.
   */
  failOver(fault: Fault): Promise<void>;
  /** Makes a new standby of the server that was ended, and has commits wait for it from then on. */
  restore(): Promise<void>;
  close(): Promise<void>;
}

export async function startPair(): Promise<Pair> {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), "giftcard-failover-"));
  // PostgreSQL's account walks through; each cluster is closed.
  fs.chmodSync(folder, 0o711);
  const site: Site = { folder, password: randomBytes(18).toString("base64url") };
  let primary = new Member(site, await freePort());
  let standby = new Member(site, await freePort());
  const hosts = `127.0.0.1:${primary.port},127.0.0.1:${standby.port}`;

  const restore = async () => {
    await standby.follow(primary);
    await primary.query("alter system set synchronous_standby_names = 'member'");
    await primary.query("select pg_reload_conf()");
    for (const giveUpAt = Date.now() + IN_STEP_WITHIN_MS; ; await sleep(50)) {
      const { rows } = await primary.query("select 1 from pg_stat_replication where sync_state = 'sync'");
      if (rows.length > 0) return;
      if (Date.now() > giveUpAt) throw new Error("The standby doesn't follow its primary.");
    }
  };
  const close = async () => {
    await Promise.all([primary.kill(), standby.kill()]);
    fs.rmSync(folder, { recursive: true, force: true });
  };
  const endNow = () => void close();
  process.once("exit", endNow);
  try {
    await primary.init();
    await restore();
  } catch (error) {
    await close();
    throw error;
  }
  return {
    url: `postgres://${USER}:${site.password}@${hosts}/postgres?target_session_attrs=read-write`,
    get primary() {
      return primary;
    },
    get standby() {
      return standby;
    },
    async failOver(fault) {
      await cutApart(standby);
      await sleep(ALONE_MS);
      if (fault === "killed") await primary.kill();
      else primary.freeze();
      await standby.promote();
      [primary, standby] = [standby, primary];
    },
    restore,
    async close() {
      process.removeListener("exit", endNow);
      await close();
    },
  };
}

async function cutApart(standby: Member): Promise<void> {
  await standby.query("alter system set primary_conninfo = ''");
  await standby.query("select pg_reload_conf()");
  for (const giveUpAt = Date.now() + IN_STEP_WITHIN_MS; ; await sleep(20)) {
    const { rows } = await standby.query("select 1 from pg_stat_wal_receiver");
    if (rows.length === 0) return;
    if (Date.now() > giveUpAt) throw new Error("The standby doesn't leave its primary.");
  }
}
