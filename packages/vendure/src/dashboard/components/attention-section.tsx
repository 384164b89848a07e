import { Button } from "@vendure/dashboard";
import { type ReactNode, useId, useState } from "react";
import {
  type ChargeRow,
  type Decision,
  type Evidence,
  useChargesThatNeedAttention,
  useDecision,
  useEvidence,
  useOrderIds,
} from "../client/calls.js";
import { type Texts, useTexts } from "../i18n/use-texts.js";
import {
  ChargeState,
  ConfirmedButton,
  cardName,
  Fact,
  Facts,
  Fault,
  Loading,
  Note,
  OrderLink,
  Outcome,
} from "./parts.js";

/** Lists the charges that need a person's decision, each with its evidence. */
export function AttentionSection() {
  const { t } = useTexts();
  const { data, error, refetch } = useChargesThatNeedAttention();
  const [outcome, setOutcome] = useState("");
  const charges = data?.giftcardCharges.items ?? [];
  const ids = useOrderIds(charges.map(({ orderCode }) => orderCode));
  if (!data) return <Loading error={error} onRetry={refetch} />;
  return (
    <div className="flex flex-col gap-4">
      <Note>{t(charges.length === 0 ? "open.none" : "open.attentionAbout")}</Note>
      <ul className="flex flex-col divide-y">
        {charges.map((charge) => (
          <li key={charge.reference} className="py-3 first:pt-0 last:pb-0">
            <Attention charge={charge} ids={ids} onDecided={setOutcome} />
          </li>
        ))}
      </ul>
      <Outcome>{outcome}</Outcome>
    </div>
  );
}

interface AttentionProps {
  readonly charge: ChargeRow;
  readonly ids: Readonly<Record<string, string>>;
  readonly onDecided: (outcome: string) => void;
}

/** Shows a charge in a line. Its evidence opens below. */
function Attention({ charge, ids, onDecided }: AttentionProps) {
  const { t, money, codeText } = useTexts();
  const [isOpen, setIsOpen] = useState(false);
  const panel = useId();
  const card = cardName(charge.lastFour);
  return (
    <div className="flex flex-col gap-3">
      <div className="flex flex-wrap items-center justify-between gap-3">
        <div className="flex flex-wrap items-center gap-x-4 gap-y-1 text-sm">
          <span className="font-medium">{t("charge.title", { card })}</span>
          <span>{money(charge.amount)}</span>
          <OrderLink code={charge.orderCode} ids={ids} />
          <ChargeState state={charge.state} />
        </div>
        <Button
          type="button"
          variant="outline"
          size="sm"
          aria-expanded={isOpen}
          aria-controls={panel}
          onClick={() => setIsOpen((before) => !before)}
        >
          {t("open.review")}
        </Button>
      </div>
      <Note>{charge.reason && codeText("reasons", charge.reason)}</Note>
      <div id={panel} hidden={!isOpen}>
        {isOpen && <Review charge={charge} onDecided={onDecided} />}
      </div>
    </div>
  );
}

function Review({ charge, onDecided }: Omit<AttentionProps, "ids">) {
  const { data, error, refetch } = useEvidence(charge.reference);
  const evidence = data?.giftcardEvidence;
  if (!evidence) return <Loading error={error} onRetry={refetch} />;
  return (
    <div className="flex flex-col gap-4 rounded-md border p-4">
      <Balances evidence={evidence} />
      <OtherCharges charges={evidence.otherChargesOfCard} />
      <History actions={evidence.actions} />
      <Decisions charge={evidence.charge} onDecided={onDecided} />
    </div>
  );
}

/** Shows both balances. The balance afterwards is only read if nobody knows whether the card was charged. */
function Balances({ evidence }: { evidence: Evidence }) {
  const texts = useTexts();
  const { t, money, time } = texts;
  const { charge, balanceBefore: before, balanceBeforeAt, balanceAfter: after, balanceAfterAt } = evidence;
  const amountAt = (cents: number | null, at: string | null) =>
    cents === null ? t("charge.notRead") : t("charge.amountAt", { amount: money(cents), time: time(at) });
  return (
    <Facts>
      <Fact name={t("charge.requested")}>{amountAt(charge.amount, charge.createdAt)}</Fact>
      <Fact name={t("charge.balanceBefore")}>{amountAt(before, balanceBeforeAt)}</Fact>
      <Fact name={t("charge.balanceAfter")}>{amountAt(after, balanceAfterAt)}</Fact>
      {before !== null && after !== null && (
        <Fact name={t("charge.meaning")}>{meaningOf(texts, before - after, charge.amount)}</Fact>
      )}
      <Fact name={t("charges.since")}>{time(charge.stateChangedAt)}</Fact>
      <Fact name={t("charge.tries")}>{charge.tries}</Fact>
      <Fact name={t("charge.reference")}>
        <span className="break-all font-mono text-xs">{charge.reference}</span>
      </Fact>
    </Facts>
  );
}

/** Interprets the two balances. Other transactions on the card may have changed them. */
function meaningOf({ t, money }: Texts, fellCents: number, askedCents: number): string {
  if (fellCents === askedCents) return t("charge.fellExactly");
  if (fellCents === 0) return t("charge.unchanged");
  return t("charge.fellOtherwise", { amount: money(-fellCents) });
}

function OtherCharges({ charges }: { charges: readonly ChargeRow[] }) {
  const { t, money, time } = useTexts();
  return (
    <Listing title={t("charge.others")} none={t("charge.noOthers")}>
      {charges.map(({ reference, amount, createdAt, orderCode, state }) => (
        <li key={reference} className="flex flex-wrap items-center gap-2">
          {t("charge.amountAt", { amount: money(amount), time: time(createdAt) })}
          {orderCode && `, ${orderCode}`}
          <ChargeState state={state} />
        </li>
      ))}
    </Listing>
  );
}

function History({ actions }: { actions: Evidence["actions"] }) {
  const { t, time, codeText } = useTexts();
  return (
    <Listing title={t("charge.history")} none={t("charge.noHistory")}>
      {actions.map(({ action, actor, createdAt }) => (
        <li key={`${createdAt} ${action}`}>
          {codeText("actions", action)}, {time(createdAt)}, {actor}
        </li>
      ))}
    </Listing>
  );
}

/** Shows a list below its title, or that it is empty. */
const Listing = ({ title, none, children }: { title: string; none: string; children: readonly ReactNode[] }) => (
  <section className="flex flex-col gap-1">
    <h3 className="text-sm font-medium">{title}</h3>
    {children.length === 0 && <Note>{none}</Note>}
    <ul className="flex flex-col gap-1 text-sm">{children}</ul>
  </section>
);

const decisions: readonly Decision[] = ["retry", "mark-not-taken", "mark-taken"];

function Decisions({ charge, onDecided }: { charge: ChargeRow; onDecided: (outcome: string) => void }) {
  const [error, setError] = useState<Error | null>(null);
  return (
    <div className="flex flex-col gap-2">
      <div className="flex flex-wrap gap-2">
        {decisions.map((decision) => (
          <DecisionButton key={decision} {...{ decision, charge, onDecided, onError: setError }} />
        ))}
      </div>
      <Fault error={error} />
    </div>
  );
}

function DecisionButton(props: {
  decision: Decision;
  charge: ChargeRow;
  onDecided: (outcome: string) => void;
  onError: (error: Error | null) => void;
}) {
  const { decision, charge, onDecided, onError } = props;
  const { t, money, codeText } = useTexts();
  const about = `${t("charge.title", { card: cardName(charge.lastFour) })}, ${money(charge.amount)}.`;
  const { mutate, isPending } = useDecision(decision, (decided) =>
    onDecided(`${about} ${decided ? codeText("states", decided.state) : t("decide.gone")}`),
  );
  const decide = () => {
    onError(null);
    mutate(charge.reference, { onError });
  };
  return (
    <ConfirmedButton
      label={t(`decide.${decision}.button`)}
      title={t(`decide.${decision}.title`)}
      question={`${about} ${t(`decide.${decision}.question`)}`}
      confirm={t(`decide.${decision}.button`)}
      isBusy={isPending}
      onConfirm={decide}
    />
  );
}
