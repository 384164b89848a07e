import { Badge } from "@vendure/dashboard";
import { useHealth } from "../client/calls.js";
import { useTexts } from "../i18n/use-texts.js";
import { Loading, Note } from "./parts.js";

/** Shows whether cards can be charged, and whether recovery works. */
export function HealthSection() {
  const { t, time, codeText } = useTexts();
  const { data, error } = useHealth();
  const health = data?.giftcardHealth;
  if (!health) return <Loading error={error} />;
  const { service, purchases, recovery } = health;
  const code = service.isKeyValid === false ? "unauthorized" : service.isReachable ? null : String(service.fault);
  const isFailing = recovery.isLate || purchases.failing > 0;
  return (
    <div className="flex flex-col items-start gap-3">
      {health.environment === "sandbox" && <Note>{t("page.sandboxNote")}</Note>}
      <Badge variant={code ? "destructive" : "success"}>{t(code ? "health.unreachable" : "health.reachable")}</Badge>
      {code && <Note>{t("health.lost", { reason: codeText("reasons", code), code })}</Note>}
      <Badge variant={isFailing ? "destructive" : "success"}>
        {recovery.isLate ? t("health.late") : t("health.failing", { count: purchases.failing })}
      </Badge>
      {recovery.isLate && <Note>{t("health.lastRun", { time: time(recovery.lastRunAt) })}</Note>}
    </div>
  );
}
