import { Button, Copy, Drawer, Heading } from "@medusajs/ui";
import { type ActionRow, type ChargeRow, useCharge } from "../client/queries.js";
import { Fact, Small, SmallButton, StateBadge, Strong } from "./section.js";
import { actionTexts, cardName, money, reasonText, stateTexts, time } from "./texts.js";
import { useDecide } from "./use-decide.js";

export function ChargeDrawer({ reference, onClose }: { reference: string; onClose: () => void }) {
  const { data } = useCharge(reference);
  return (
    <Drawer open onOpenChange={(isOpen) => !isOpen && onClose()}>
      <Drawer.Content>
        <Drawer.Header>
          <Drawer.Title>{data ? `Card ${cardName(data.charge.lastFour)}` : "Gift card charge"}</Drawer.Title>
          <Drawer.Description>
            {data ? reasonText(data.charge.reason) || stateTexts[data.charge.state].label : ""}
          </Drawer.Description>
        </Drawer.Header>
        <Drawer.Body className="divide-y overflow-y-auto p-0">
          {data && (
            <>
              <Facts charge={data.charge} balanceBeforeAt={data.balanceBeforeAt} />
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

function Facts({ charge, balanceBeforeAt }: { charge: ChargeRow; balanceBeforeAt: string }) {
  const { balanceBeforeCents: before, balanceAfterCents: after, deductedCents, amountCents } = charge;
  return (
    <div className="divide-y">
      <Fact name="State">
        <StateBadge state={charge.state} />
      </Fact>
      <Fact name="Requested">
        {money(amountCents)}, {time(charge.sentAt)}
      </Fact>
      <Fact name="Taken">{deductedCents === null ? "Not known" : money(deductedCents)}</Fact>
      <Fact name="Balance before">
        {money(before)}, {time(balanceBeforeAt)}
      </Fact>
      <Fact name="Balance afterwards">
        {after === null ? "Not read" : `${money(after)}, ${time(charge.balanceAfterAt)}`}
      </Fact>
      {after !== null && <Fact name="Meaning">{meaningOf(before - after, amountCents)}</Fact>}
      {charge.reversedAt && <Fact name="Reversed">{time(charge.reversedAt)}</Fact>}
      <Fact name="Order">{charge.orderName ?? charge.orderId ?? "None"}</Fact>
      <Fact name="Cart">
        <span className="break-all">{charge.cartId}</span>
      </Fact>
      <Fact name="Service">
        {charge.environment}, company {charge.companyId}, {charge.baseUrl}
      </Fact>
      <Fact name="Reference">
        <span className="flex items-start gap-x-1">
          <span className="break-all">{charge.reference}</span>
          <Copy content={charge.reference} className="shrink-0" />
        </span>
      </Fact>
      <Fact name="Reversal attempts">{charge.tries}</Fact>
    </div>
  );
}

/** Interprets the two balances. Other transactions on the card may have changed them. */
function meaningOf(fellCents: number, askedCents: number): string {
  if (fellCents === askedCents)
    return "The balance fell by exactly the requested amount. It was probably taken, but this is no proof.";
  if (fellCents === 0) return "The balance is the same. Probably nothing was taken, but this is no proof.";
  return `The balance changed by ${money(-fellCents)}, so there was another transaction. Ask the card's issuer.`;
}

function OtherMovements({ charges }: { charges: readonly ChargeRow[] }) {
  return (
    <div className="flex flex-col gap-y-2 px-6 py-4">
      <Heading level="h3">This shop's other charges on the card</Heading>
      {charges.length === 0 && <Small>None. This shop made no other transaction on the card.</Small>}
      {charges.map((other) => (
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
      <Heading level="h3">History</Heading>
      {actions.length === 0 && <Small>No actions yet.</Small>}
      {actions.map(({ action, actor, createdAt }) => (
        <div key={`${createdAt} ${action}`}>
          <Strong>
            {actionTexts[action] ?? action}, {time(createdAt)}
          </Strong>
          <Small>{actor}</Small>
        </div>
      ))}
    </div>
  );
}

function Decisions({ charge }: { charge: ChargeRow }) {
  const { decide, pendingReference } = useDecide();
  const isBusy = pendingReference !== undefined;
  const isUndecided = charge.state === "needs_attention";
  if (!isUndecided && charge.state !== "reversing") return null;
  return (
    <Drawer.Footer>
      <SmallButton isLoading={isBusy} onClick={() => void decide(charge, "retry")}>
        {isUndecided ? "Try again" : "Try the reversal now"}
      </SmallButton>
      {isUndecided && (
        <>
          <SmallButton disabled={isBusy} onClick={() => void decide(charge, "mark-not-taken")}>
            Mark as not taken
          </SmallButton>
          <Button size="small" disabled={isBusy} onClick={() => void decide(charge, "mark-taken")}>
            Mark as taken
          </Button>
        </>
      )}
    </Drawer.Footer>
  );
}
