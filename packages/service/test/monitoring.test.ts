// @module-tag long

import fs from "node:fs";
import path from "node:path";
import { endpoints, errorDefinitions } from "@giftcard-pay/client/contract";
import { beforeAll, expect, test } from "vitest";

import { limitNames } from "../src/limits/limits.js";
import { serviceForFile } from "./service-for-file.js";
import { call, credentials } from "./wire.js";

const folder = path.resolve(import.meta.dirname, "../../../docs/monitoring");
const read = (name: string) => fs.readFileSync(path.join(folder, name), "utf8");
/** The Prometheus queries of the alert rules and the dashboard. */
const queries: Record<string, string[]> = {
  "alerts.yml": [...read("alerts.yml").matchAll(/^ +expr: (.+)$/gm)].map(([, expression]) => String(expression)),
  "dashboard.json": (JSON.parse(read("dashboard.json")).panels as { targets: { expr: string }[] }[]).flatMap(
    ({ targets }) => targets.map(({ expr }) => expr),
  ),
};
const service = serviceForFile();
let metricsText: string;

beforeAll(async () => {
  const company = await service.createCompany();
  await call(service.url, "listProviders", credentials(company));
  metricsText = await service.metrics();
});

test.each(Object.keys(queries))("%s queries only metrics that the service has", (file) => {
  const kinds = [...metricsText.matchAll(/^# TYPE (\S+) (\S+)$/gm)];
  const known = new Set(
    kinds.flatMap(([, name, kind]) =>
      kind === "histogram" ? [`${name}_bucket`, `${name}_sum`, `${name}_count`] : [String(name)],
    ),
  );
  const expressions = queries[file] as string[];
  expect(expressions.length).toBeGreaterThan(8);
  const named = expressions.flatMap((one) => one.match(/\b(giftcard|process|nodejs)_\w+/g) ?? []);
  expect([...new Set(named)].filter((name) => !known.has(name))).toEqual([]);
  // Each query uses a metric of the service, or `up`, which shows whether the service can be reached.
  for (const one of expressions) expect(one).toMatch(/\b(giftcard|process|nodejs)_|\bup\{/);
});

test("failures are counted from 0 for each operation, so that an alert sees the first one", () => {
  for (const { path: of } of Object.values(endpoints))
    for (const outcome of ["internal", "overloaded"])
      expect(metricsText).toContain(
        `giftcard_calls_total{operation="${of.replace(/\/$/, "")}",outcome="${outcome}"} 0`,
      );
});

test.each(Object.keys(queries))("%s queries only existing operations, outcomes and limits", (file) => {
  const paths = Object.values(endpoints).map((row) => row.path.replace(/\/$/, ""));
  const values: Record<string, readonly string[]> = {
    operation: paths,
    outcome: ["done", "replayed", ...Object.keys(errorDefinitions)],
    limit: limitNames,
    job: ["giftcard"],
  };
  const found = (queries[file] as string[]).flatMap((one) => [...one.matchAll(/(\w+)(?:=|!~|=~)"([^"]+)"/g)]);
  expect(found.length).toBeGreaterThan(0);
  for (const [, label, value] of found)
    for (const one of String(value).split("|")) expect(values[String(label)], label).toContain(one);
});
