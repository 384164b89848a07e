import type { ChargeState } from "@giftcard-pay/checkout/store";
import { StatusBadge } from "@medusajs/ui";
import { stateTexts } from "./texts.js";

export function StateBadge({ state }: { state: ChargeState }) {
  const { color, label } = stateTexts[state];
  return (
    <StatusBadge color={color} className="text-nowrap">
      {label}
    </StatusBadge>
  );
}
