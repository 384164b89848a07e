import { Button, Input, Table, Text, usePrompt } from "@medusajs/ui";
import { useState } from "react";
import type { Sold } from "../../medusa-tables/sold-items.js";
import type { BulkRefundPlan } from "../../refunds/bulk-store.js";
import {
  type BulkRefundRow,
  useBeginBulkRefund,
  useBulkRefunds,
  useDecideBulkRefundOrder,
  useProducts,
  useRefundPlan,
} from "../client/queries.js";
import { Choice, Field, Nothing, OrderLink, Section, SmallButton } from "./section.js";
import { methodName, money, partText, time } from "./texts.js";

const ALL = "all";

/** Plans and begins bulk refunds, such as of a canceled performance, and shows their progress. */
export function BulkRefundsSection() {
  const [title, setTitle] = useState("");
  const [productId, setProductId] = useState<string>();
  const [variantId, setVariantId] = useState(ALL);
  const { data } = useProducts(title);
  const { mutate: plan, data: planned, isPending, reset } = useRefundPlan();
  const product = data?.products.find(({ id }) => id === productId);
  const choose = (id: string) => {
    setProductId(id);
    setVariantId(ALL);
    reset();
  };
  const sold: Sold | undefined = product && (variantId === ALL ? { productId: product.id } : { variantId });
  return (
    <div className="flex flex-col gap-y-3">
      <Section
        title="Bulk refund"
        about="Refunds everything that was sold of a product: the card's part to the card, the remainder by the other payment. You see the plan first."
      >
        <div className="flex flex-wrap items-end gap-3 px-6 py-4">
          <Field label="Find" id="refund-title">
            <Input
              id="refund-title"
              size="small"
              value={title}
              placeholder="A product's title"
              onChange={({ target }) => setTitle(target.value)}
            />
          </Field>
          <Field label="Product">
            <Choice label="Product" value={product?.id} options={data?.products ?? []} onChoose={choose} />
          </Field>
          {product && (
            <Field label="Variant">
              <Choice
                label="Variant"
                value={variantId}
                options={[{ id: ALL, title: "All of them" }, ...product.variants]}
                onChoose={(id) => {
                  setVariantId(id);
                  reset();
                }}
              />
            </Field>
          )}
          <SmallButton disabled={!sold} isLoading={isPending} onClick={() => sold && plan(sold)}>
            Plan
          </SmallButton>
        </div>
        {planned && <Plan plan={planned.plan} onBegun={reset} />}
      </Section>
      <BulkRefunds />
    </div>
  );
}

function Plan({ plan, onBegun }: { plan: BulkRefundPlan; onBegun: () => void }) {
  const { title, orders, refused, amountCents, sums } = plan;
  const { mutateAsync, isPending } = useBeginBulkRefund();
  const prompt = usePrompt();
  const begin = async () => {
    const isMeant = await prompt({
      title: `Refund ${money(amountCents)}?`,
      description: `${orders.length} orders of ${title} get their money back. This can't be undone.`,
      verificationText: title,
      confirmText: "Refund",
      cancelText: "Cancel",
    });
    if (isMeant && (await mutateAsync(plan).catch(() => null))) onBegun();
  };
  if (orders.length + refused.length === 0) return <Nothing>Nothing of it is left to refund.</Nothing>;
  return (
    <>
      <div className="flex flex-wrap items-center justify-between gap-3 px-6 py-4">
        <Text size="small">
          {orders.length} orders, <strong>{money(amountCents)}</strong>
          {sums.map(
            ({ providerId, isCard, cents }) =>
              `, ${money(cents)} ${isCard ? "to gift cards" : `by ${methodName(providerId)}`}`,
          )}
        </Text>
        {orders.length > 0 && (
          <Button size="small" variant="danger" isLoading={isPending} onClick={() => void begin()}>
            Refund {money(amountCents)}
          </Button>
        )}
      </div>
      <div className="overflow-x-auto">
        <Table>
          <Table.Body>
            {[...orders, ...refused].map((order) => (
              <Table.Row key={order.orderId}>
                <Table.Cell>
                  <OrderLink {...order} />
                </Table.Cell>
                <Table.Cell className="text-right">{money(order.amountCents)}</Table.Cell>
                {"parts" in order ? (
                  <Table.Cell>{order.parts.map(partText).join(", ")}</Table.Cell>
                ) : (
                  <Table.Cell className="text-ui-fg-error whitespace-normal">Not refunded. {order.why}</Table.Cell>
                )}
              </Table.Row>
            ))}
          </Table.Body>
        </Table>
      </div>
    </>
  );
}

function BulkRefunds() {
  const { data } = useBulkRefunds();
  if (!data || data.bulkRefunds.length === 0) return null;
  return (
    <Section title="Bulk refunds">
      {data.bulkRefunds.map((bulkRefund) => (
        <BulkRefund key={bulkRefund.id} bulkRefund={bulkRefund} />
      ))}
    </Section>
  );
}

function BulkRefund({ bulkRefund }: { bulkRefund: BulkRefundRow }) {
  const { mutate, isPending } = useDecideBulkRefundOrder();
  const decide = (orderId: string, decision: "retry" | "exempt") =>
    mutate({ bulkRefundId: bulkRefund.id, orderId, decision });
  return (
    <div className="flex flex-col gap-y-2 px-6 py-4">
      <div className="flex flex-wrap items-center justify-between gap-x-4">
        <Text size="small" weight="plus">
          {bulkRefund.title}
        </Text>
        <Text size="small">
          {money(bulkRefund.doneCents)} of {money(bulkRefund.amountCents)}
        </Text>
      </div>
      <Text size="xsmall" className="text-ui-fg-subtle">
        {bulkRefund.done} orders refunded
        {bulkRefund.open > 0 && `, ${bulkRefund.open} to go`}
        {bulkRefund.waiting.length > 0 && `, ${bulkRefund.waiting.length} wait for a person`}. Asked for by{" "}
        {bulkRefund.actor}, {time(bulkRefund.createdAt)}.
      </Text>
      {bulkRefund.waiting.map(({ orderId, orderName, amountCents, why }) => (
        <div key={orderId} className="flex flex-wrap items-center justify-between gap-x-4 gap-y-2">
          <Text size="small" className="min-w-0">
            <OrderLink orderId={orderId} orderName={orderName} />, {money(amountCents)}: {why}
          </Text>
          <div className="flex shrink-0 gap-2">
            <Button size="small" variant="transparent" isLoading={isPending} onClick={() => decide(orderId, "exempt")}>
              Leave it
            </Button>
            <SmallButton isLoading={isPending} onClick={() => decide(orderId, "retry")}>
              Try again
            </SmallButton>
          </div>
        </div>
      ))}
    </div>
  );
}
