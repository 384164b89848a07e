import { Drawer, Heading, toast } from "@medusajs/ui";
import { type ReactNode, useState } from "react";
import {
  type ActionRow,
  type ChargeRow,
  type Decision,
  type LineTitles,
  useCharge,
  useDecision,
} from "../client/queries.js";
import { type Texts, useTexts } from "../i18n/use-texts.js";
import { actorName, cardName, codeText, stateText } from "./labels.js";
import { byPayment, Parts, type Payment, sumOf, urgentOf } from "./payments.js";
import { ActionButton, OrderLink, Small, SmallButton, Strong } from "./section.js";

/** Shows a card's payment, and the facts of its charge that most needs a person, who can decide about it. */
export function ChargeDrawer({ reference: opened, onClose }: { reference: string; onClose: () => void }) {
  const { t, money } = useTexts();
  const [reference, setReference] = useState(opened);
  const { data } = useCharge(reference);
  const [payment, ...others] = data ? byPayment([data.charge, ...data.otherChargesOfCard]) : [];
  const urgent = payment && urgentOf(payment);
  // The next charge of this payment, once a person has decided about one.
  if (data?.charge.state !== "needs_attention" && urgent?.state === "needs_attention") setReference(urgent.reference);
  return (
    <Drawer open onOpenChange={(isOpen) => !isOpen && onClose()}>
      <Drawer.Content>
        <Drawer.Header>
          <Drawer.Title>
            {data ? t("charge.title", { card: cardName(data.charge.lastFour) }) : t("common.loading")}
          </Drawer.Title>
          <Drawer.Description>{payment ? money(sumOf(payment)) : ""}</Drawer.Description>
        </Drawer.Header>
        <Drawer.Body className="divide-y overflow-y-auto p-0">
          {data && payment && (
            <>
              <div className="px-6 py-4">
                <Parts payment={payment} titles={data.lineTitles} />
              </div>
              <Facts charge={data.charge} balanceBeforeAt={data.balanceBeforeAt} />
              {others.length > 0 && <OtherPayments payments={others} titles={data.lineTitles} />}
              {data.actions.length > 0 && <History actions={data.actions} />}
            </>
          )}
        </Drawer.Body>
        {data && <Decisions charge={data.charge} />}
      </Drawer.Content>
    </Drawer>
  );
}

/** Shows the facts of a charge. The balance afterwards is only read if nobody knows whether the card was charged. */
function Facts({ charge, balanceBeforeAt }: { charge: ChargeRow; balanceBeforeAt: string }) {
  const texts = useTexts();
  const { t, money, time } = texts;
  const { balanceBeforeCents: before, balanceAfterCents: after, amountCents } = charge;
  const amountAt = (cents: number, iso: string | null) =>
    t("charge.amountAt", { amount: money(cents), time: time(iso) });
  const facts: [name: string, value: ReactNode][] = [
    [t("charge.requested"), amountAt(amountCents, charge.sentAt)],
    [t("charge.balanceBefore"), amountAt(before, balanceBeforeAt)],
  ];
  if (after !== null)
    facts.push(
      [t("charge.balanceAfter"), amountAt(after, charge.balanceAfterAt)],
      [t("charge.meaning"), meaningOf(texts, before - after, amountCents)],
    );
  else if (charge.state === "needs_attention") facts.push([t("charge.balanceAfter"), t("charge.notRead")]);
  facts.push(
    [t("common.order"), <OrderLink key="order" {...charge} none={t("charge.noOrder")} />],
    [t("charge.reference"), charge.reference],
  );
  return facts.map(([name, value]) => (
    <div key={name} className="text-ui-fg-subtle grid grid-cols-2 items-start gap-x-4 px-6 py-3">
      <Strong>{name}</Strong>
      <Small>{value}</Small>
    </div>
  ));
}

/** Interprets the two balances. Other transactions on the card may have changed them. */
function meaningOf({ t, money }: Texts, fellCents: number, askedCents: number): string {
  if (fellCents === askedCents) return t("charge.fellExactly");
  if (fellCents === 0) return t("charge.unchanged");
  return t("charge.fellOtherwise", { amount: money(-fellCents) });
}

function OtherPayments({ payments, titles }: { payments: readonly Payment[]; titles: LineTitles }) {
  const { t, money } = useTexts();
  return (
    <div className="flex flex-col gap-y-3 px-6 py-4">
      <Heading level="h3">{t("charge.others")}</Heading>
      {payments.map((payment) => (
        <div key={payment[0].sessionId} className="flex flex-col gap-y-1">
          <Small>
            {money(sumOf(payment))} <OrderLink {...payment[0]} none={t("charge.noOrder")} />
          </Small>
          <Parts payment={payment} titles={titles} />
        </div>
      ))}
    </div>
  );
}

function History({ actions }: { actions: readonly ActionRow[] }) {
  const texts = useTexts();
  return (
    <div className="flex flex-col gap-y-2 px-6 py-4">
      <Heading level="h3">{texts.t("charge.history")}</Heading>
      {actions.map(({ action, actor, createdAt }) => (
        <div key={`${createdAt} ${action}`}>
          <Strong>
            {codeText(texts, "actions", action)}, {texts.time(createdAt)}
          </Strong>
          <Small>{actorName(texts, actor)}</Small>
        </div>
      ))}
    </div>
  );
}

function Decisions({ charge }: { charge: ChargeRow }) {
  const { t, money } = useTexts();
  const { decide, isPending } = useDecide();
  if (charge.state === "reversing")
    return (
      <Drawer.Footer>
        <SmallButton isLoading={isPending} onClick={() => void decide([charge], "retry")}>
          {t("open.tryNow")}
        </SmallButton>
      </Drawer.Footer>
    );
  if (charge.state !== "needs_attention") return null;
  const about = t("decide.about", { card: cardName(charge.lastFour), amount: money(sumOf([charge])) });
  return (
    <Drawer.Footer>
      {(["retry", "mark-not-taken", "mark-taken"] as const).map((decision) => (
        <ActionButton
          key={decision}
          disabled={isPending}
          question={{
            title: t(`decide.${decision}.title`),
            description: `${about} ${t(`decide.${decision}.question`)}`,
            variant: decision === "retry" ? "confirmation" : "danger",
          }}
          onAct={() => decide([charge], decision)}
        >
          {t(`decide.${decision}.button`)}
        </ActionButton>
      ))}
    </Drawer.Footer>
  );
}

/** Carries out a decision about charges, one after another. The shop records who decided. */
export function useDecide() {
  const texts = useTexts();
  const { mutateAsync, isPending } = useDecision();
  async function decide(charges: readonly ChargeRow[], decision: Decision): Promise<void> {
    for (const { reference } of charges) {
      const done = await mutateAsync({ reference, decision }).catch(() => null);
      if (!done) return;
      const { state, lastFour } = done.charge;
      toast.info(texts.t("decide.done", { card: cardName(lastFour), state: stateText(texts, state) }));
    }
  }
  return { decide, isPending };
}
