import { Button, Copy, Drawer, Heading, Text } from "@medusajs/ui";
import { type ActionRow, type AttemptRow, useAttempt } from "../client/queries.js";
import { Fact } from "./section.js";
import { StateBadge } from "./state-badge.js";
import { actionTexts, cardName, money, reasonText, stateTexts, time } from "./texts.js";
import { useDecide } from "./use-decide.js";

/** Everything that is known of an attempt, and what can be done about it. */
export function AttemptDrawer({ reference, onClose }: { reference: string; onClose: () => void }) {
  const { data } = useAttempt(reference);
  return (
    <Drawer open onOpenChange={(isOpen) => !isOpen && onClose()}>
      <Drawer.Content>
        <Drawer.Header>
          <Drawer.Title>{data ? `Card ${cardName(data.attempt.lastFour)}` : "Gift card charge"}</Drawer.Title>
          <Drawer.Description>
            {data ? reasonText(data.attempt.reason) || stateTexts[data.attempt.state].label : ""}
          </Drawer.Description>
        </Drawer.Header>
        <Drawer.Body className="divide-y overflow-y-auto p-0">
          {data && (
            <>
              <Facts attempt={data.attempt} balanceBeforeAt={data.balanceBeforeAt} />
              <OtherMovements attempts={data.otherAttemptsOfCard} />
              <History actions={data.actions} />
            </>
          )}
        </Drawer.Body>
        {data && <Decisions attempt={data.attempt} />}
      </Drawer.Content>
    </Drawer>
  );
}

function Facts({ attempt, balanceBeforeAt }: { attempt: AttemptRow; balanceBeforeAt: string }) {
  const { balanceBeforeCents: before, balanceAfterCents: after, deductedCents, amountCents } = attempt;
  return (
    <div className="divide-y">
      <Fact name="State">
        <StateBadge state={attempt.state} />
      </Fact>
      <Fact name="Asked for">
        {money(amountCents)}, {time(attempt.sentAt)}
      </Fact>
      <Fact name="Taken">{deductedCents === null ? "Not known" : money(deductedCents)}</Fact>
      <Fact name="Balance before">
        {money(before)}, {time(balanceBeforeAt)}
      </Fact>
      <Fact name="Balance afterwards">
        {after === null ? "Not read" : `${money(after)}, ${time(attempt.balanceAfterAt)}`}
      </Fact>
      {after !== null && <Fact name="What that means">{meaningOf(before - after, amountCents)}</Fact>}
      {attempt.reversedAt && <Fact name="Put back">{time(attempt.reversedAt)}</Fact>}
      <Fact name="Order">{attempt.orderName ?? attempt.orderId ?? "None"}</Fact>
      <Fact name="Cart">
        <span className="break-all">{attempt.cartId}</span>
      </Fact>
      <Fact name="Service">
        {attempt.environment}, company {attempt.companyId}, {attempt.baseUrl}
      </Fact>
      <Fact name="Reference">
        <span className="flex items-start gap-x-1">
          <span className="break-all">{attempt.reference}</span>
          <Copy content={attempt.reference} className="shrink-0" />
        </span>
      </Fact>
      <Fact name="Tries of a reversal">{attempt.tries}</Fact>
    </div>
  );
}

/** What the two balances suggest. Other movements on the card may have had a part in it. */
function meaningOf(fellCents: number, askedCents: number): string {
  if (fellCents === askedCents)
    return "The balance fell by exactly what was asked for: it was probably taken. It is no proof.";
  if (fellCents === 0) return "The balance is the same: probably nothing was taken. It is no proof.";
  return `The balance changed by ${money(-fellCents)}: something else moved, too. Ask the card's issuer.`;
}

function OtherMovements({ attempts }: { attempts: readonly AttemptRow[] }) {
  return (
    <div className="flex flex-col gap-y-2 px-6 py-4">
      <Heading level="h3">This shop's other charges on the card</Heading>
      {attempts.length === 0 && <Small>None. What else moved its balance was not this shop.</Small>}
      {attempts.map((other) => (
        <div key={other.reference} className="flex items-center justify-between gap-x-2">
          <Small>
            {money(other.deductedCents ?? other.amountCents)}, {time(other.createdAt)}
            {other.orderName && `, ${other.orderName}`}
          </Small>
          <StateBadge state={other.state} />
        </div>
      ))}
    </div>
  );
}

function History({ actions }: { actions: readonly ActionRow[] }) {
  return (
    <div className="flex flex-col gap-y-2 px-6 py-4">
      <Heading level="h3">Who did what</Heading>
      {actions.length === 0 && <Small>Nobody has done anything yet.</Small>}
      {actions.map(({ action, actor, createdAt }) => (
        <div key={`${createdAt} ${action}`}>
          <Text size="small" leading="compact" weight="plus">
            {actionTexts[action] ?? action}, {time(createdAt)}
          </Text>
          <Small>{actor}</Small>
        </div>
      ))}
    </div>
  );
}

function Decisions({ attempt }: { attempt: AttemptRow }) {
  const { decide, pendingReference } = useDecide();
  const isBusy = pendingReference !== undefined;
  const isUndecided = attempt.state === "needs_attention";
  if (!isUndecided && attempt.state !== "reversing") return null;
  return (
    <Drawer.Footer>
      <Button
        size="small"
        variant="secondary"
        isLoading={isBusy}
        onClick={() => void decide(attempt, "retry")}
      >
        {isUndecided ? "Try again" : "Try the reversal now"}
      </Button>
      {isUndecided && (
        <>
          <Button
            size="small"
            variant="secondary"
            disabled={isBusy}
            onClick={() => void decide(attempt, "mark-not-taken")}
          >
            Mark as not taken
          </Button>
          <Button size="small" disabled={isBusy} onClick={() => void decide(attempt, "mark-taken")}>
            Mark as taken
          </Button>
        </>
      )}
    </Drawer.Footer>
  );
}

function Small({ children }: { children: React.ReactNode }) {
  return (
    <Text size="small" leading="compact" className="text-ui-fg-subtle">
      {children}
    </Text>
  );
}
