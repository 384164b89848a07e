import { Button, Input, Label } from "@vendure/dashboard";
import { type FormEvent, useId, useState } from "react";
import { type ReconciliationView, useReconciliation } from "../client/calls.js";
import { useTexts } from "../i18n/use-texts.js";
import { Fault, Note } from "./parts.js";

/** The reports' days begin in this time zone, wherever the browser is. It is checkout's DEFAULT_TIME_ZONE. */
const reportDay = new Intl.DateTimeFormat("sv-SE", { timeZone: "Europe/Amsterdam" });

/** Returns the first day of a month such as `2026-11`, and its last day or today. */
export function daysOf(month: string, today: string): { from: string; to: string } {
  const [year, number] = month.split("-").map(Number) as [number, number];
  const last = `${month}-${new Date(Date.UTC(year, number, 0)).getUTCDate()}`;
  return { from: `${month}-01`, to: last < today ? last : today };
}

/** Compares the charges of a month with Vendure's payments. */
export function ReconciliationSection() {
  const { t } = useTexts();
  const today = reportDay.format(new Date());
  const thisMonth = today.slice(0, 7);
  const [month, setMonth] = useState(thisMonth);
  const { mutate, isPending, data, error } = useReconciliation();
  const field = useId();
  const compare = (event: FormEvent) => {
    event.preventDefault();
    if (/^\d{4}-\d\d$/.test(month)) mutate(daysOf(month, today));
  };
  return (
    <div className="flex flex-col gap-4">
      <Note>
        {t("reconciliation.about")} {t("reconciliation.hint")}
      </Note>
      <form className="flex flex-wrap items-end gap-3" onSubmit={compare}>
        <div className="flex flex-col gap-2">
          <Label htmlFor={field}>{t("common.month")}</Label>
          <Input
            id={field}
            type="month"
            required
            pattern="\d{4}-\d{2}"
            max={thisMonth}
            value={month}
            onChange={(event) => setMonth(event.target.value)}
          />
        </div>
        <Button type="submit" variant="outline" disabled={isPending}>
          {isPending ? t("common.loading") : t("reconciliation.compare")}
        </Button>
      </form>
      <Fault error={error} />
      {data && !isPending && <Result result={data} />}
    </div>
  );
}

function Result({ result: { differences, text } }: { result: ReconciliationView }) {
  const { t } = useTexts();
  const found =
    differences.length === 0
      ? `${t("reconciliation.none")}. ${t("reconciliation.match")}`
      : t("reconciliation.differences", { count: differences.length });
  return (
    <div className="flex flex-col gap-3">
      <p role="status" className="text-sm font-medium">
        {found}
      </p>
      <pre className="overflow-x-auto text-xs">{text}</pre>
    </div>
  );
}
