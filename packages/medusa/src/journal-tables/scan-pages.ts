import type { Sql } from "@giftcard-pay/checkout/plugin";
import { SCAN_PAGE, type Scan } from "../medusa-tables/scan.js";

/** Reads where this run's page begins. The next run, in any process, continues after it. */
export async function takeScanPage(sql: Sql): Promise<string> {
  const [row] = await sql(
    `with begun as (select after from giftcard_scan),
     page as (select reference from giftcard_charge where reference > (select after from begun)
       order by reference limit ${SCAN_PAGE}),
     ended as (select case when count(*) = ${SCAN_PAGE} then max(reference) else '' end as after from page)
     update giftcard_scan set after = ended.after from ended, begun returning begun.after as begins_after`,
    [],
  );
  return String(row?.begins_after ?? "");
}

/** Runs a finder that uses `SCANNED` over the whole past, page by page. */
export async function everyScanPage<T>(scan: Scan, find: (scan: Scan) => Promise<T[]>): Promise<T[]> {
  const all: T[] = [];
  for (let after = ""; ; ) {
    all.push(...(await find({ ...scan, after })));
    const [page] = await scan.sql(
      `select count(*), max(reference) as last from
         (select reference from giftcard_charge where reference > $1 order by reference limit ${SCAN_PAGE}) page`,
      [after],
    );
    if (Number(page?.count) < SCAN_PAGE) return all;
    after = String(page?.last);
  }
}
