import type { AttemptState } from "@giftcard-pay/checkout";
import { StatusBadge } from "@medusajs/ui";
import { stateTexts } from "./texts.js";

export function StateBadge({ state }: { state: AttemptState }) {
  const { color, label } = stateTexts[state];
  return (
    <StatusBadge color={color} className="text-nowrap">
      {label}
    </StatusBadge>
  );
}
