import { Page, PageBlock, PageLayout, PageTitle, useChannel, usePermissions } from "@vendure/dashboard";
import { useTexts } from "../i18n/use-texts.js";
import { AttentionSection } from "./attention-section.js";
import { HealthSection } from "./health-section.js";
import { Note } from "./parts.js";
import { PurchasesSection } from "./purchases-section.js";

/** The page in the navigation: what needs a person, and health. The layout looks for blocks among its direct children. */
export function GiftcardsPage() {
  const { t, codeText } = useTexts();
  const isReader = usePermissions().hasPermissions(["ReadGiftcards"]);
  const isDefaultChannel = useChannel().activeChannel?.code === "__default_channel__";
  return (
    <Page pageId="giftcards">
      <PageTitle>{t("page.title")}</PageTitle>
      {isReader && isDefaultChannel ? (
        <PageLayout>
          <PageBlock column="main" blockId="giftcards-attention" title={codeText("states", "needs_attention")}>
            <AttentionSection />
          </PageBlock>
          <PageBlock column="main" blockId="giftcards-purchases" title={t("purchases.title")}>
            <PurchasesSection />
          </PageBlock>
          <PageBlock column="side" blockId="giftcards-health" title={t("health.title")}>
            <HealthSection />
          </PageBlock>
        </PageLayout>
      ) : (
        <Note>{t(isReader ? "page.otherChannel" : "page.noPermission")}</Note>
      )}
    </Page>
  );
}
