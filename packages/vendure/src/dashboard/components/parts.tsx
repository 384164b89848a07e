import {
  Alert,
  AlertDescription,
  Badge,
  Button,
  ConfirmationDialog,
  DetailPageButton,
  PermissionGuard,
} from "@vendure/dashboard";
import type { ReactNode } from "react";
import type { ChargeRow } from "../client/calls.js";
import { useTexts } from "../i18n/use-texts.js";

/** Shows that data is loading, or why it could not be loaded. It is tried again by itself. */
export function Loading({ error }: { error: Error | null }) {
  const { t } = useTexts();
  return error ? <Fault error={error} /> : <Note>{t("common.loading")}</Note>;
}

/** Shows why a call failed, next to the button that made it. */
export function Fault({ error }: { error: Error | null }) {
  const { t } = useTexts();
  if (!error) return null;
  return (
    <Alert variant="destructive">
      <AlertDescription>{t("common.failed", { error: error.message })}</AlertDescription>
    </Alert>
  );
}

export const Note = ({ children }: { children: ReactNode }) => (
  <p className="text-sm text-muted-foreground">{children}</p>
);

/** Announces the result of an action, also to screen readers. */
export const Outcome = ({ children }: { children: ReactNode }) => (
  <p role="status" className="text-sm empty:hidden">
    {children}
  </p>
);

export const Facts = ({ children }: { children: ReactNode }) => (
  <dl className="grid grid-cols-1 gap-x-6 gap-y-1 text-sm sm:grid-cols-[max-content_1fr]">{children}</dl>
);

export const Fact = ({ name, children }: { name: string; children: ReactNode }) => (
  <>
    <dt className="text-muted-foreground">{name}</dt>
    <dd className="break-words">{children}</dd>
  </>
);

export function ChargeState({ state }: { state: string }) {
  const { codeText } = useTexts();
  return <Badge variant={state === "needs_attention" ? "destructive" : "secondary"}>{codeText("states", state)}</Badge>;
}

/** Asks before it acts. Hidden without the permission WriteGiftcards. */
export function ConfirmedButton(props: {
  label: string;
  title: string;
  question: string;
  isBusy: boolean;
  onConfirm: () => void;
}) {
  const { t } = useTexts();
  const { label, title, question, isBusy, onConfirm } = props;
  return (
    <PermissionGuard requires={["WriteGiftcards"]}>
      <ConfirmationDialog
        {...{ title, description: question, confirmText: label, cancelText: t("common.cancel"), onConfirm }}
      >
        <Button type="button" variant="outline" size="sm" disabled={isBusy}>
          {label}
        </Button>
      </ConfirmationDialog>
    </PermissionGuard>
  );
}

/** Links to an order if its id is known. */
export function OrderLink({ orderCode: code, orderId: id }: Pick<ChargeRow, "orderCode" | "orderId">) {
  const { t } = useTexts();
  if (code === null) return <>{t("charge.noOrder")}</>;
  return id ? <DetailPageButton href={`/orders/${id}`} label={code} className="-mx-2 h-auto py-0" /> : code;
}

export const cardName = (lastFour: string): string => `•••• ${lastFour}`;
