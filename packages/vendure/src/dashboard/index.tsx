/** The extension of Vendure's dashboard. The shop's own build compiles it: `dashboard` in `plugin.ts` names this file. */
import { defineDashboardExtension } from "@vendure/dashboard";
import { GiftcardsPage } from "./components/giftcards-page.js";
import { OrderGiftcards } from "./components/order-giftcards.js";
import { NAV_TITLE, useTexts } from "./i18n/use-texts.js";

const Title = () => <>{useTexts().t("page.title")}</>;

defineDashboardExtension({
  routes: [
    {
      path: "/giftcards",
      component: () => <GiftcardsPage />,
      navMenuItem: {
        ...{ id: "giftcards", sectionId: "sales", title: NAV_TITLE, order: 300 },
        requiresPermission: ["ReadGiftcards"],
      },
    },
  ],
  pageBlocks: [
    {
      id: "giftcards",
      title: <Title />,
      location: { pageId: "order-detail", column: "main", position: { blockId: "payment-details", order: "after" } },
      requiresPermission: ["ReadGiftcards"],
      component: ({ context: { entity } }) => entity && <OrderGiftcards id={entity.id} code={entity.code} />,
    },
  ],
});
