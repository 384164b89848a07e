import { defineRouteConfig } from "@medusajs/admin-sdk";
import { Gift } from "@medusajs/icons";
import { Tabs } from "@medusajs/ui";
import { BulkRefundsSection } from "../../components/bulk-refunds-section.js";
import { ChargesSection } from "../../components/charges-section.js";
import { HealthSection } from "../../components/health-section.js";
import { OpenSections } from "../../components/open-sections.js";
import { ReconciliationSection } from "../../components/reconciliation-section.js";
import { StatementSection } from "../../components/statement-section.js";

function GiftcardsPage() {
  return (
    <div className="flex flex-col gap-y-3">
      <HealthSection />
      <Tabs defaultValue="open">
        <Tabs.List className="mb-3">
          <Tabs.Trigger value="open">Open</Tabs.Trigger>
          <Tabs.Trigger value="charges">Charges</Tabs.Trigger>
          <Tabs.Trigger value="refunds">Bulk refund</Tabs.Trigger>
          <Tabs.Trigger value="reconciliation">Reconciliation</Tabs.Trigger>
          <Tabs.Trigger value="statement">Statement</Tabs.Trigger>
        </Tabs.List>
        <Tabs.Content value="open" className="flex flex-col gap-y-3">
          <OpenSections />
        </Tabs.Content>
        <Tabs.Content value="charges">
          <ChargesSection />
        </Tabs.Content>
        <Tabs.Content value="refunds">
          <BulkRefundsSection />
        </Tabs.Content>
        <Tabs.Content value="reconciliation">
          <ReconciliationSection />
        </Tabs.Content>
        <Tabs.Content value="statement">
          <StatementSection />
        </Tabs.Content>
      </Tabs>
    </div>
  );
}

export const config = defineRouteConfig({ label: "Gift cards", icon: Gift });

export default GiftcardsPage;
