import { Button } from "@vendure/dashboard";
import { useId, useState } from "react";
import {
  type ChargeRow,
  type Decision,
  type Evidence,
  useChargesThatNeedAttention,
  useDecision,
  useEvidence,
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
  const { data, error } = useChargesThatNeedAttention();
  const [outcome, setOutcome] = useState("");
  const charges = data?.giftcardCharges.items ?? [];
  if (!data) return <Loading error={error} />;
  return (
    <div className="flex flex-col gap-4">
      <Note>{t(charges.length === 0 ? "open.none" : "open.attentionAbout")}</Note>
      <ul className="flex flex-col divide-y">
        {charges.map((charge) => (
          <li key={charge.reference} className="py-3 first:pt-0 last:pb-0">
            <Attention charge={charge} onDecided={setOutcome} />
          </li>
        ))}
      </ul>
      <Outcome>{outcome}</Outcome>
    </div>
  );
}

interface AttentionProps {
  readonly charge: ChargeRow;
  readonly onDecided: (outcome: string) => void;
}

/** Shows a charge in a line. Its evidence opens below. */
function Attention({ charge, onDecided }: AttentionProps) {
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
          <OrderLink {...charge} />
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

function Review({ charge, onDecided }: AttentionProps) {
  const { data, error } = useEvidence(charge.reference);
  const evidence = data?.giftcardEvidence;
  if (!evidence) return <Loading error={error} />;
  return (
    <div className="flex flex-col gap-4 rounded-md border p-4">
      <Evidenced evidence={evidence} />
      <div className="flex flex-wrap gap-2">
        {decisions.map((decision) => (
          <DecisionButton key={decision} {...{ decision, charge: evidence.charge, onDecided }} />
        ))}
      </div>
    </div>
  );
}

/** Shows the facts. The balance afterwards is only read if nobody knows whether the card was charged. */
function Evidenced({ evidence }: { evidence: Evidence }) {
  const texts = useTexts();
  const { t, money, time, codeText } = texts;
  const { actions, otherChargesOfCard, charge, balanceBefore: before, balanceAfter: after } = evidence;
  const amountAt = (cents: number | null, at: string | null) =>
    cents === null ? t("charge.notRead") : t("charge.amountAt", { amount: money(cents), time: time(at) });
  const others = otherChargesOfCard.map(({ amount, createdAt, orderCode, state }) =>
    [amountAt(amount, createdAt), orderCode, codeText("states", state)].filter(Boolean).join(", "),
  );
  const decided = actions.map(({ action, actor, createdAt }) =>
    [codeText("actions", action), time(createdAt), actor].join(", "),
  );
  return (
    <Facts>
      <Fact name={t("charge.requested")}>{amountAt(charge.amount, charge.createdAt)}</Fact>
      <Fact name={t("charge.balanceBefore")}>{amountAt(before, evidence.balanceBeforeAt)}</Fact>
      <Fact name={t("charge.balanceAfter")}>{amountAt(after, evidence.balanceAfterAt)}</Fact>
      {before !== null && after !== null && (
        <Fact name={t("charge.meaning")}>{meaningOf(texts, before - after, charge.amount)}</Fact>
      )}
      <Fact name={t("charges.since")}>{time(charge.stateChangedAt)}</Fact>
      <Fact name={t("charge.tries")}>{charge.tries}</Fact>
      <Fact name={t("charge.others")}>{others.join("; ") || t("charge.noOthers")}</Fact>
      <Fact name={t("charge.history")}>{decided.join("; ") || t("charge.noHistory")}</Fact>
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

const decisions: readonly Decision[] = ["retry", "mark-not-taken", "mark-taken"];

function DecisionButton({ decision, charge, onDecided }: AttentionProps & { decision: Decision }) {
  const { t, money, codeText } = useTexts();
  const about = `${t("charge.title", { card: cardName(charge.lastFour) })}, ${money(charge.amount)}.`;
  const { mutate, isPending, error } = useDecision(decision, (decided) =>
    onDecided(`${about} ${decided ? codeText("states", decided.state) : t("decide.gone")}`),
  );
  return (
    <>
      <ConfirmedButton
        label={t(`decide.${decision}.button`)}
        title={t(`decide.${decision}.title`)}
        question={`${about} ${t(`decide.${decision}.question`)}`}
        isBusy={isPending}
        onConfirm={() => mutate(charge.reference)}
      />
      <Fault error={error} />
    </>
  );
}
