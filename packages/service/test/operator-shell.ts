import { spawn } from "node:child_process";
import { once } from "node:events";
import path from "node:path";
import type pg from "pg";
import { expect } from "vitest";
import { runCommand } from "../../../test/support/service.js";

const PROGRAM = path.resolve(import.meta.dirname, "../bin/giftcard-service.js");

/** A command's exit code, the JSON value that it printed, and its error output. */
export interface CommandResult {
  readonly exitCode: number;
  // biome-ignore lint/suspicious/noExplicitAny: the output of any command
  readonly value: any;
  readonly stderr: string;
}

/** Runs commands of an operator on one database, with `--json`. */
export function operatorShell(databaseUrl: string, secretsFile: string) {
  const env = { GIFTCARD_DATABASE_URL: databaseUrl, GIFTCARD_SECRETS_FILE: secretsFile };
  return {
    env,
    /** Runs a command that may fail. */
    async run(words: readonly string[], stdin = ""): Promise<CommandResult> {
      const { exitCode, stdout, stderr } = await runCommand([...words, "--json"], env, stdin);
      return { exitCode, value: stdout === "" ? undefined : JSON.parse(stdout), stderr };
    },
    /** Runs a command that must succeed. */
    // biome-ignore lint/suspicious/noExplicitAny: the output of any command
    async succeed(...words: string[]): Promise<any> {
      const { exitCode, value, stderr } = await this.run(words);
      expect([words, exitCode, stderr]).toEqual([words, 0, expect.anything()]);
      return value;
    },
    /** Locks a table with `db`, and kills the command with SIGKILL while it waits for that table. */
    async killAt(db: pg.Client, table: string, words: readonly string[]): Promise<void> {
      await db.query(`begin; lock table ${table} in exclusive mode`);
      try {
        const child = spawn(process.execPath, [PROGRAM, ...words], {
          env: { ...process.env, ...env },
          stdio: "ignore",
        });
        const ended = once(child, "exit");
        // Autovacuum may wait for the table too, in another mode.
        const waiting = async () =>
          (
            await db.query(
              `select count(*)::int as n from pg_locks where relation = $1::regclass and not granted
                 and database = (select oid from pg_database where datname = current_database())
                 and mode in ('RowShareLock', 'RowExclusiveLock')`,
              [table],
            )
          ).rows[0].n;
        await expect.poll(waiting).toBe(1);
        child.kill("SIGKILL");
        await ended;
      } finally {
        await db.query("rollback");
      }
    },
  };
}
