import { Checkbox, Label, Text } from "@medusajs/ui";
import { useState } from "react";
import type { Sold } from "../../medusa-tables/bulk-refunds.js";
import type { BulkRefundPlan } from "../../refunds/bulk-store.js";
import { useBeginBulkRefund, useProducts, useRefundPlan } from "../client/queries.js";
import { useTexts } from "../i18n/use-texts.js";
import { BulkRefundList } from "./bulk-refund-list.js";
import { methodName, partsText } from "./labels.js";
import { ActionButton, Choice, InputField, Nothing, OrderLink, Rows, Section, SmallButton } from "./section.js";

/** Plans and begins bulk refunds, such as of a canceled performance, and shows their progress. */
export function BulkRefundsSection() {
  const { t } = useTexts();
  const [title, setTitle] = useState("");
  const [chosenId, setChosenId] = useState<string>();
  const { data } = useProducts(title);
  const { mutate: plan, data: planned, isPending, reset } = useRefundPlan();
  const choices = (data?.products ?? []).flatMap(({ id, title, variants }) => [
    { id, title, sold: { productId: id } },
    ...(variants.length > 1 ? variants : []).map((one) => ({
      ...{ id: one.id, title: `${title}, ${one.title}`, sold: { variantId: one.id } },
    })),
  ]);
  const sold: Sold | undefined = choices.find(({ id }) => id === chosenId)?.sold;
  return (
    <div className="flex flex-col gap-y-3">
      <Section title={t("bulk.title")} about={t("bulk.about")}>
        <div className="flex flex-wrap items-end gap-3 px-6 py-4">
          <InputField
            label={t("bulk.find")}
            id="refund-title"
            type="search"
            value={title}
            placeholder={t("bulk.findHint")}
            onChange={({ target }) => setTitle(target.value)}
          />
          <Choice
            label={t("bulk.product")}
            value={sold && chosenId}
            options={choices}
            onChoose={(id) => {
              setChosenId(id);
              reset();
            }}
          />
          <SmallButton disabled={!sold} isLoading={isPending} onClick={() => sold && plan({ sold, capture: false })}>
            {t("bulk.plan")}
          </SmallButton>
        </div>
        {planned ? (
          <Plan
            plan={planned.plan}
            isPlanning={isPending}
            onCapture={(capture) => plan({ sold: planned.plan.sold, capture })}
            onBegun={reset}
          />
        ) : (
          <Nothing>{t("bulk.hint")}</Nothing>
        )}
      </Section>
      <BulkRefundList />
    </div>
  );
}

function Plan(props: {
  plan: BulkRefundPlan;
  isPlanning: boolean;
  onCapture: (capture: boolean) => void;
  onBegun: () => void;
}) {
  const texts = useTexts();
  const { t, money } = texts;
  const { plan, isPlanning, onCapture, onBegun } = props;
  const { title, orders, refused, amountCents, captureCents, sums } = plan;
  const { mutate, isPending } = useBeginBulkRefund();
  const count = orders.length;
  const captures = captureCents > 0 ? ` ${t("refund.captures", { amount: money(captureCents) })}` : "";
  const question = {
    title: t("refund.question", { amount: money(amountCents) }),
    description: `${t("bulk.question", { count, title })}${captures}`,
    verificationText: title,
    // Medusa replaces {val} with the title. Without it, Medusa shows an English text.
    verificationInstruction: t("bulk.verify", { title: "{val}" }),
    confirmText: t("refund.confirm"),
    variant: "danger",
  } as const;
  if (count + refused.length === 0) return <Nothing>{t("bulk.nothingLeft")}</Nothing>;
  const summary = sums.map(({ providerId, isCard, cents }) => {
    const target = isCard ? t("bulk.giftCards") : methodName(texts, providerId);
    return t("refund.part", { amount: money(cents), target });
  });
  return (
    <>
      <CaptureChoice plan={plan} isDisabled={isPlanning || isPending} onChoose={onCapture} />
      <div className="flex flex-wrap items-center justify-between gap-3 px-6 py-4">
        <Text size="small">
          {t("bulk.orders", { count })}, <strong>{money(amountCents)}</strong>
          {summary.length > 0 && `: ${summary.join(", ")}`}
        </Text>
        {count > 0 && (
          <ActionButton
            variant="danger"
            isLoading={isPending}
            question={question}
            onAct={() => mutate(plan, { onSuccess: onBegun })}
          >
            {t("refund.amount", { amount: money(amountCents) })}
          </ActionButton>
        )}
      </div>
      <Rows
        columns={[t("common.order"), t("charges.amount"), t("refund.confirm")]}
        amounts={[1]}
        rows={[...orders, ...refused].map((order) => ({
          key: order.orderId,
          cells: [
            <OrderLink key="order" {...order} />,
            money(order.amountCents),
            "parts" in order ? partsText(texts, order.parts) : t("bulk.refused", { why: texts.why(order.why) }),
          ],
        }))}
      />
    </>
  );
}

/** Offers to capture first what isn't captured yet. Hidden if the plan has no such order. */
function CaptureChoice(props: { plan: BulkRefundPlan; isDisabled: boolean; onChoose: (capture: boolean) => void }) {
  const { t, money } = useTexts();
  const { uncaptured, orders, captureCents } = props.plan;
  const isChosen = captureCents > 0;
  if (!isChosen && uncaptured.orders === 0) return null;
  const count = isChosen ? orders.filter(({ captures }) => captures.length > 0).length : uncaptured.orders;
  const amount = money(isChosen ? captureCents : uncaptured.cents);
  return (
    <div className="flex items-center gap-x-2 px-6 py-4">
      <Checkbox
        id="giftcard-capture"
        checked={isChosen}
        disabled={props.isDisabled}
        onCheckedChange={(isOn) => props.onChoose(isOn === true)}
      />
      <Label size="small" htmlFor="giftcard-capture">
        {t("bulk.capture", { count, amount })}
      </Label>
    </div>
  );
}
