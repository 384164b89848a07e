import { setImmediate as turn } from "node:timers/promises";
import type { Charge, ChargeFilter } from "../store/charge.js";
import type { Journal } from "../store/journal.js";

/** The number of charges and payments in memory at once, and of ids in a statement. */
export const PAGE = 500;

/** The journal, and the service that a report is about. */
export interface ReportSource {
  readonly journal: Journal;
  readonly environment: "live" | "sandbox";
  readonly companyId: number;
}

/** Reads all matching charges of the service in pages, by reference. */
export const readCharges = ({ journal, environment, companyId }: ReportSource, filter: ChargeFilter) =>
  readAnyCharges(journal, { ...filter, environment, companyId });

/** Reads all matching charges of any service in pages, by reference. */
export async function* readAnyCharges(journal: Journal, filter: ChargeFilter): AsyncGenerator<Charge[]> {
  let after = "";
  for (;;) {
    // A journal in a file is read synchronously. Let other work of the shop run between pages.
    await turn();
    const page = await journal.readPage(filter, after, PAGE);
    yield page;
    const last = page.at(-1);
    if (!last || page.length < PAGE) return;
    after = last.reference;
  }
}
