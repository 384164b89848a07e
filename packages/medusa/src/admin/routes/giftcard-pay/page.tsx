import { defineRouteConfig } from "@medusajs/admin-sdk";
import { Gift } from "@medusajs/icons";
import { Tabs } from "@medusajs/ui";
import type { FunctionComponent } from "react";
import { useSearchParams } from "react-router-dom";
import { useKeptFocus } from "../../client/kept-focus.js";
import { BulkRefundsSection } from "../../components/bulk-refunds-section.js";
import { ChargeDrawer } from "../../components/charge-drawer.js";
import { ChargesSection } from "../../components/charges-section.js";
import { HealthSection } from "../../components/health-section.js";
import { OpenSections } from "../../components/open-sections.js";
import { useOpenWork } from "../../components/problems.js";
import { ReconciliationSection } from "../../components/reconciliation-section.js";
import { StatementSection } from "../../components/statement-section.js";
import { useTexts } from "../../i18n/use-texts.js";

const tabs: Readonly<Record<"open" | "charges" | "refunds" | "reconciliation" | "statement", FunctionComponent>> = {
  open: OpenSections,
  charges: ChargesSection,
  refunds: BulkRefundsSection,
  reconciliation: ReconciliationSection,
  statement: StatementSection,
};
type Tab = keyof typeof tabs;

/** The page "Gift cards": what needs a person, all card payments, refunds, and the reports. Its address has the open tab and payment. */
function GiftcardsPage() {
  const { t } = useTexts();
  const [address, setAddress] = useSearchParams();
  const tab = address.get("tab") ?? "open";
  const part = useKeptFocus();
  const charge = address.get("charge");
  const count = useOpenWork()?.count ?? 0;
  return (
    <div ref={part} className="flex flex-col gap-y-3">
      <HealthSection />
      <Tabs value={tab in tabs ? tab : "open"} onValueChange={(name) => setAddress({ tab: name }, { replace: true })}>
        <Tabs.List className="mb-3 flex-wrap">
          {Object.keys(tabs).map((name) => (
            <Tabs.Trigger key={name} value={name}>
              {t(`tabs.${name as Tab}`)}
              {name === "open" && count > 0 && ` (${count})`}
            </Tabs.Trigger>
          ))}
        </Tabs.List>
        {Object.entries(tabs).map(([name, Content]) => (
          <Tabs.Content key={name} value={name} className="flex flex-col gap-y-3">
            <Content />
          </Tabs.Content>
        ))}
      </Tabs>
      {charge && <ChargeDrawer reference={charge} onClose={() => setAddress({ tab }, { replace: true })} />}
    </div>
  );
}

export const config = defineRouteConfig({ label: "page.title", icon: Gift, translationNs: "giftcardPay" });

export default GiftcardsPage;
