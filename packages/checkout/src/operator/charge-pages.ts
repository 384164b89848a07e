import { setImmediate as turn } from "node:timers/promises";
import type { Charge, ChargeFilter } from "../store/charge.js";
import type { Journal } from "../store/journal.js";

/** How much of the books is in memory at once, and how many ids one statement names. */
export const PAGE = 500;

/** The journal, and which service's money a report is about. */
export interface ReportSource {
  readonly journal: Journal;
  readonly environment: "live" | "sandbox";
  readonly companyId: number;
}

/** Every charge of the service that matches, page by page, in the order of their references: none is cut off. */
export const readCharges = ({ journal, environment, companyId }: ReportSource, filter: ChargeFilter) =>
  readAnyCharges(journal, { ...filter, environment, companyId });

/** The same, of whatever service they are. */
export async function* readAnyCharges(journal: Journal, filter: ChargeFilter): AsyncGenerator<Charge[]> {
  let after = "";
  for (;;) {
    // A journal in a file answers at once: a long month must not keep the shop from selling meanwhile.
    await turn();
    const page = await journal.readPage(filter, after, PAGE);
    yield page;
    const last = page.at(-1);
    if (!last || page.length < PAGE) return;
    after = last.reference;
  }
}
