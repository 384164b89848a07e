import { randomBytes } from "node:crypto";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { startForwarder } from "../../../scripts/lib/process/forwarder.mjs";
import { freePort } from "../../../scripts/lib/process.mjs";
import { Member, type Site, USER } from "./member.js";

/** How a primary fails: it is killed, or stops answering without ending. */
export type Fault = "killed" | "silent";

const IN_STEP_WITHIN_MS = 60_000;
/** How long a primary runs without its standby before it fails. Whatever it answers in this time would be lost. */
const ALONE_MS = 300;

/** A primary and its synchronous standby, behind one address. */
export interface Pair {
  /** The address that always leads to the primary, as a virtual IP does. Holds the password. */
  readonly url: string;
  readonly primary: Member;
  readonly standby: Member;
  /** Disconnects the standby, makes the primary fail, promotes the standby, and moves the address to it. */
  failOver(fault: Fault): Promise<void>;
  /** Makes a new standby of the failed server, and has commits wait for it again. */
  restore(): Promise<void>;
  close(): Promise<void>;
}

/** Starts a primary and its synchronous standby. */
export async function startPair(): Promise<Pair> {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), "giftcard-failover-"));
  // PostgreSQL's account must reach the clusters in it, which are closed to others.
  fs.chmodSync(folder, 0o711);
  const site: Site = { folder, password: randomBytes(18).toString("base64url") };
  let primary = new Member(site, await freePort());
  let standby = new Member(site, await freePort());
  const address = await startForwarder(() => primary.port);

  const restore = async () => {
    await standby.follow(primary);
    await primary.query("alter system set synchronous_standby_names = 'member'");
    await primary.query("select pg_reload_conf()");
    for (const giveUpAt = Date.now() + IN_STEP_WITHIN_MS; ; await sleep(50)) {
      const { rows } = await primary.query("select 1 from pg_stat_replication where sync_state = 'sync'");
      if (rows.length > 0) return;
      if (Date.now() > giveUpAt) throw new Error("The standby does not follow its primary.");
    }
  };
  const close = async () => {
    await Promise.all([primary.kill(), standby.kill(), address.close()]);
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
    url: `postgres://${USER}:${site.password}@127.0.0.1:${address.port}/postgres`,
    get primary() {
      return primary;
    },
    get standby() {
      return standby;
    },
    async failOver(fault) {
      await disconnect(standby);
      await sleep(ALONE_MS);
      if (fault === "killed") await primary.kill();
      else primary.freeze();
      await standby.promote();
      [primary, standby] = [standby, primary];
      address.cut();
    },
    restore,
    async close() {
      process.removeListener("exit", endNow);
      await close();
    },
  };
}

async function disconnect(standby: Member): Promise<void> {
  await standby.query("alter system set primary_conninfo = ''");
  await standby.query("select pg_reload_conf()");
  for (const giveUpAt = Date.now() + IN_STEP_WITHIN_MS; ; await sleep(20)) {
    const { rows } = await standby.query("select 1 from pg_stat_wal_receiver");
    if (rows.length === 0) return;
    if (Date.now() > giveUpAt) throw new Error("The standby is still connected to its primary.");
  }
}
