import type { BigNumberInput, PaymentSessionDTO } from "@medusajs/framework/types";
import { Modules } from "@medusajs/framework/utils";
import {
  createStep,
  createWorkflow,
  StepResponse,
  transform,
  WorkflowResponse,
  when,
} from "@medusajs/framework/workflows-sdk";
import {
  createPaymentAccountHolderStep,
  createPaymentSessionStep,
  createRemoteLinkStep,
  useRemoteQueryStep,
} from "@medusajs/medusa/core-flows";
import { toMedusaError } from "../errors.js";
import type { SessionPayment } from "../medusa-tables/payments.js";
import { deleteSessions } from "./sessions.js";

export interface RemainderSessionInput {
  payment_collection_id: string;
  provider_id: string;
  customer_id: string | undefined;
  data: Record<string, unknown> | undefined;
  amount: BigNumberInput;
  metadata: Record<string, string>;
  stale_sessions: readonly SessionPayment[];
}

const deleteSessionsStep = createStep(
  "giftcard-delete-sessions",
  async (sessions: RemainderSessionInput["stale_sessions"], { container }) => {
    await deleteSessions(container, sessions).catch((error: unknown) => {
      throw toMedusaError(error);
    });
    return new StepResponse(undefined);
  },
);

/**
 * Medusa's createPaymentSessionsWorkflow, but with its own amount instead of the whole collection's. The caller has
 * checked that the region offers the method. The old sessions are deleted first, so that there are never two to pay
 * by. If one can't be deleted, none is created.
 */
export const createRemainderSessionWorkflow = createWorkflow(
  "giftcard-create-remainder-session",
  (input: RemainderSessionInput) => {
    deleteSessionsStep(input.stale_sessions);

    const holder = when("customer-id-exists", { input }, ({ input }) => Boolean(input.customer_id)).then(() => {
      const customer = useRemoteQueryStep({
        entry_point: "customer",
        fields: [
          "id",
          "email",
          "company_name",
          "first_name",
          "last_name",
          "phone",
          "addresses.*",
          "account_holders.*",
          "metadata",
        ],
        variables: { id: input.customer_id },
        list: false,
      });
      const paymentCustomer = transform({ customer }, ({ customer }) => {
        const { addresses } = customer;
        const isBilling = (address: { is_default_billing?: boolean }) => address.is_default_billing;
        return { ...customer, billing_address: addresses?.find(isBilling) ?? addresses?.[0] };
      });
      const existing = transform({ customer, input }, ({ customer, input }) =>
        (customer.account_holders ?? []).find((a?: { provider_id: string }) => a?.provider_id === input.provider_id),
      );
      const accountHolder = createPaymentAccountHolderStep(
        transform({ existing, input, paymentCustomer }, ({ existing, input, paymentCustomer }) => ({
          provider_id: input.provider_id,
          context: { account_holder: existing, customer: paymentCustomer },
        })) as never,
      ).config({ noCompensation: true });
      return { paymentCustomer, accountHolder, existing };
    });
    when("account-holder-created", { holder }, ({ holder }) =>
      Boolean(holder && !holder.existing && holder.accountHolder),
    ).then(() => {
      const links = transform({ holder }, ({ holder }) => [
        {
          [Modules.CUSTOMER]: { customer_id: holder?.paymentCustomer.id },
          [Modules.PAYMENT]: { account_holder_id: holder?.accountHolder?.id },
        },
      ]);
      createRemoteLinkStep(links as never).config({ noCompensation: true });
    });

    const sessionInput = transform({ input, holder }, ({ input, holder }) => ({
      payment_collection_id: input.payment_collection_id,
      provider_id: input.provider_id,
      data: input.data,
      context: { customer: holder?.paymentCustomer, account_holder: holder?.accountHolder },
      amount: input.amount,
      currency_code: "eur",
      metadata: input.metadata,
    }));
    const session = createPaymentSessionStep(sessionInput as never);
    return new WorkflowResponse(session as unknown as PaymentSessionDTO);
  },
);
