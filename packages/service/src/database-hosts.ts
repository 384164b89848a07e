import type pg from "pg";
import type { DatabaseHost, HostTarget } from "./database-address.js";

/** Which of a database's hosts is used now: the last that was good. All pools of an address share it. */
export class DatabaseHosts {
  readonly #hosts: readonly DatabaseHost[];
  readonly #connected = new Map<pg.Client, DatabaseHost>();
  #index = 0;
  #generation = 0;

  constructor(
    hosts: readonly DatabaseHost[],
    readonly target: HostTarget,
  ) {
    this.#hosts = hosts;
  }

  get count(): number {
    return this.#hosts.length;
  }

  get current(): DatabaseHost | undefined {
    return this.#hosts[this.#index];
  }

  /** Grows with each host that is given up: connections of an earlier one are not used again. */
  get generation(): number {
    return this.#generation;
  }

  /** Goes on to the next host, once for all who were at this one. */
  giveUp(generation: number): void {
    if (generation !== this.#generation) return;
    this.#generation += 1;
    this.#index = (this.#index + 1) % this.#hosts.length;
  }

  /**
   * Notes a connection to a host that is as it must be. As only one takes writes, those to others wait for answers that
   * nobody will give: they are ended.
   */
  arrived(client: pg.Client, host: DatabaseHost | undefined): void {
    if (!host || this.target === "any") return;
    this.#connected.set(client, host);
    client.once("end", () => this.#connected.delete(client));
    for (const [other, at] of this.#connected) {
      if (at !== host) other.connection.stream.destroy();
    }
  }
}
