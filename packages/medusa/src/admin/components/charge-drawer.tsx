import { Button, Copy, Drawer, Heading, toast, usePrompt } from "@medusajs/ui";
import {
  type ActionRow,
  type ChargeRow,
  type Decision,
  type LineTitles,
  useCharge,
  useDecision,
} from "../client/queries.js";
import { type Texts, useTexts } from "../i18n/use-texts.js";
import { actorName, cardName, codeText, piecesText, reasonText, stateText, takenCents } from "./labels.js";
import { Fact, OrderLink, Small, SmallButton, StateBadge, Strong } from "./section.js";

export function ChargeDrawer({ reference, onClose }: { reference: string; onClose: () => void }) {
  const texts = useTexts();
  const { t } = texts;
  const { data } = useCharge(reference);
  return (
    <Drawer open onOpenChange={(isOpen) => !isOpen && onClose()}>
      <Drawer.Content>
        <Drawer.Header>
          <Drawer.Title>
            {data ? t("charge.title", { card: cardName(data.charge.lastFour) }) : t("common.loading")}
          </Drawer.Title>
          <Drawer.Description>
            {data ? reasonText(texts, data.charge.reason) || stateText(texts, data.charge.state) : ""}
          </Drawer.Description>
        </Drawer.Header>
        <Drawer.Body className="divide-y overflow-y-auto p-0">
          {data && (
            <>
              <Facts charge={data.charge} balanceBeforeAt={data.balanceBeforeAt} titles={data.lineTitles} />
              <OtherMovements charges={data.otherChargesOfCard} />
              <History actions={data.actions} />
            </>
          )}
        </Drawer.Body>
        {data && <Decisions charge={data.charge} />}
      </Drawer.Content>
    </Drawer>
  );
}

/** Shows the facts of a charge. The balance afterwards is only read if nobody knows whether the card was charged. */
function Facts(props: { charge: ChargeRow; balanceBeforeAt: string; titles: LineTitles }) {
  const texts = useTexts();
  const { t, money, time } = texts;
  const { charge, balanceBeforeAt, titles } = props;
  const { balanceBeforeCents: before, balanceAfterCents: after, deductedCents, amountCents } = charge;
  const paid = piecesText(texts, charge, titles);
  const amountAt = (cents: number, iso: string | null) =>
    t("charge.amountAt", { amount: money(cents), time: time(iso) });
  return (
    <div className="divide-y">
      <Fact name={t("charges.state")}>
        <StateBadge state={charge.state} />
      </Fact>
      <Fact name={t("charges.since")}>{time(charge.stateChangedAt)}</Fact>
      <Fact name={t("charge.requested")}>{amountAt(amountCents, charge.sentAt)}</Fact>
      <Fact name={t("charge.taken")}>{deductedCents === null ? t("common.notKnown") : money(deductedCents)}</Fact>
      {paid !== "" && <Fact name={t("charge.paid")}>{paid}</Fact>}
      <Fact name={t("charge.balanceBefore")}>{amountAt(before, balanceBeforeAt)}</Fact>
      {(after !== null || charge.state === "needs_attention") && (
        <Fact name={t("charge.balanceAfter")}>
          {after === null ? t("charge.notRead") : amountAt(after, charge.balanceAfterAt)}
        </Fact>
      )}
      {after !== null && <Fact name={t("charge.meaning")}>{meaningOf(texts, before - after, amountCents)}</Fact>}
      {charge.reversedAt && <Fact name={t("charge.reversedAt")}>{time(charge.reversedAt)}</Fact>}
      <Fact name={t("common.order")}>
        <OrderLink {...charge} none={t("charge.noOrder")} />
      </Fact>
      <Fact name={t("charge.cart")}>
        <span className="break-all">{charge.cartId}</span>
      </Fact>
      <Fact name={t("charge.service")}>
        {t("charge.account", { company: charge.companyId, address: charge.baseUrl })}
      </Fact>
      <Fact name={t("charge.reference")}>
        <span className="flex items-start gap-x-1">
          <span className="break-all">{charge.reference}</span>
          <Copy content={charge.reference} className="shrink-0" />
        </span>
      </Fact>
      <Fact name={t("charge.tries")}>{charge.tries}</Fact>
    </div>
  );
}

/** Interprets the two balances. Other transactions on the card may have changed them. */
function meaningOf({ t, money }: Texts, fellCents: number, askedCents: number): string {
  if (fellCents === askedCents) return t("charge.fellExactly");
  if (fellCents === 0) return t("charge.unchanged");
  return t("charge.fellOtherwise", { amount: money(-fellCents) });
}

function OtherMovements({ charges }: { charges: readonly ChargeRow[] }) {
  const { t, money, time } = useTexts();
  return (
    <div className="flex flex-col gap-y-2 px-6 py-4">
      <Heading level="h3">{t("charge.others")}</Heading>
      {charges.length === 0 && <Small>{t("charge.noOthers")}</Small>}
      {charges.map((other) => (
        <div key={other.reference} className="flex items-center justify-between gap-x-2">
          <Small>
            {t("charge.amountAt", { amount: money(takenCents(other)), time: time(other.createdAt) })}
            {other.orderName && `, ${other.orderName}`}
          </Small>
          <StateBadge state={other.state} />
        </div>
      ))}
    </div>
  );
}

function History({ actions }: { actions: readonly ActionRow[] }) {
  const texts = useTexts();
  const { t, time } = texts;
  return (
    <div className="flex flex-col gap-y-2 px-6 py-4">
      <Heading level="h3">{t("charge.history")}</Heading>
      {actions.length === 0 && <Small>{t("charge.noHistory")}</Small>}
      {actions.map(({ action, actor, createdAt }) => (
        <div key={`${createdAt} ${action}`}>
          <Strong>
            {codeText(texts, "actions", action)}, {time(createdAt)}
          </Strong>
          <Small>{actorName(texts, actor)}</Small>
        </div>
      ))}
    </div>
  );
}

function Decisions({ charge }: { charge: ChargeRow }) {
  const { t } = useTexts();
  const { decide, pendingReference } = useDecide();
  const isBusy = pendingReference !== undefined;
  const isUndecided = charge.state === "needs_attention";
  if (!isUndecided && charge.state !== "reversing") return null;
  return (
    <Drawer.Footer>
      <SmallButton isLoading={isBusy} onClick={() => void decide(charge, "retry")}>
        {isUndecided ? t("decide.retry.button") : t("open.tryNow")}
      </SmallButton>
      {isUndecided && (
        <>
          <SmallButton disabled={isBusy} onClick={() => void decide(charge, "mark-not-taken")}>
            {t("decide.mark-not-taken.button")}
          </SmallButton>
          <Button size="small" disabled={isBusy} onClick={() => void decide(charge, "mark-taken")}>
            {t("decide.mark-taken.button")}
          </Button>
        </>
      )}
    </Drawer.Footer>
  );
}

/** Asks for confirmation, then carries out the decision. The shop records who decided. */
export function useDecide() {
  const texts = useTexts();
  const { t, money } = texts;
  const prompt = usePrompt();
  const { mutateAsync, isPending, variables } = useDecision();
  async function decide(charge: ChargeRow, decision: Decision): Promise<void> {
    const card = cardName(charge.lastFour);
    const about = t("decide.about", { card, amount: money(takenCents(charge)) });
    const isConfirmed =
      // Retrying an owed reversal is always safe.
      (decision === "retry" && charge.state === "reversing") ||
      (await prompt({
        title: t(`decide.${decision}.title`),
        description: `${about} ${t(`decide.${decision}.question`)}`,
        confirmText: t(`decide.${decision}.button`),
        cancelText: t("common.cancel"),
        variant: decision === "retry" ? "confirmation" : "danger",
      }));
    if (!isConfirmed) return;
    const done = await mutateAsync({ reference: charge.reference, decision }).catch(() => null);
    if (done) toast.info(t("decide.done", { card, state: stateText(texts, done.charge.state) }));
  }
  return { decide, pendingReference: isPending ? variables?.reference : undefined };
}
