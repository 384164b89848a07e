import pg from "pg";
import { expect, test } from "vitest";
import { isAborted, retryConflicts } from "../src/database/conflicts.js";

/** An error from a server in German. */
function failure(code: string, severity = "FEHLER"): pg.DatabaseError {
  return Object.assign(new pg.DatabaseError("nein", 4, "error"), { code, severity });
}

test("a rolled-back transaction is recognized by its code, in any language", () => {
  for (const code of ["40001", "40P01", "23505", "57014", "55P03", "22001"])
    expect(isAborted(failure(code)), code).toBe(true);
  for (const code of ["57P01", "08006", "25P03", "XX000", "58030", "40003"])
    expect(isAborted(failure(code, "FATAL")), code).toBe(false);
  expect(isAborted(new Error("Connection terminated unexpectedly"))).toBe(false);
});

test("a transaction is retried if it is rolled back because of a concurrent one", async () => {
  let left = 2;
  const work = async () => {
    left -= 1;
    if (left >= 0) throw failure("40001");
    return "done";
  };
  await expect(retryConflicts(work)).resolves.toBe("done");
  await expect(retryConflicts(() => Promise.reject(failure("57P01")))).rejects.toMatchObject({
    code: "57P01",
  });
});
