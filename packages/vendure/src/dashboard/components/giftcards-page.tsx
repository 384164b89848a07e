import { Page, PageBlock, PageLayout, PageTitle, useChannel, usePermissions } from "@vendure/dashboard";
import { useTexts } from "../i18n/use-texts.js";
import { AttentionSection } from "./attention-section.js";
import { HealthSection } from "./health-section.js";
import { Note } from "./parts.js";
import { PurchasesSection } from "./purchases-section.js";
import { ReconciliationSection } from "./reconciliation-section.js";

const DEFAULT_CHANNEL = "__default_channel__";

/** The page in the navigation: health, what needs a person, and reconciliation. */
export function GiftcardsPage() {
  const { t, codeText } = useTexts();
  const { hasPermissions } = usePermissions();
  const { activeChannel } = useChannel();
  return (
    <Page pageId="giftcards">
      <PageTitle>{t("page.title")}</PageTitle>
      {hasPermissions(["ReadGiftcards"]) ? content(activeChannel?.code === DEFAULT_CHANNEL) : noPermission()}
    </Page>
  );

  function noPermission() {
    return <Note>{t("page.noPermission")}</Note>;
  }

  /** The layout looks for blocks among its direct children. */
  function content(isDefaultChannel: boolean) {
    return (
      <PageLayout>
        {isDefaultChannel ? (
          <>
            <PageBlock column="main" blockId="giftcards-attention" title={codeText("states", "needs_attention")}>
              <AttentionSection />
            </PageBlock>
            <PageBlock column="main" blockId="giftcards-purchases" title={t("purchases.title")}>
              <PurchasesSection />
            </PageBlock>
            <PageBlock column="main" blockId="giftcards-reconciliation" title={t("reconciliation.title")}>
              <ReconciliationSection />
            </PageBlock>
          </>
        ) : (
          <PageBlock column="main" blockId="giftcards-channel" title={t("open.title")}>
            <Note>{t("page.otherChannel")}</Note>
          </PageBlock>
        )}
        <PageBlock column="side" blockId="giftcards-health" title={t("health.title")}>
          <HealthSection />
        </PageBlock>
      </PageLayout>
    );
  }
}
