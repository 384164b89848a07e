import type { ChargeState } from "@giftcard-pay/checkout/store";

/** States of a charge as SQL literals: `'committed', 'captured'`. */
export const stateList = (states: readonly ChargeState[]) => states.map((state) => `'${state}'`).join(", ");
