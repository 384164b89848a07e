import { Container, Heading, Text } from "@medusajs/ui";
import type { ReactNode } from "react";

/** A box of the page with its heading, looking like Medusa's own. */
export function Section(props: {
  title: string;
  about?: ReactNode;
  actions?: ReactNode;
  children?: ReactNode;
  level?: "h1" | "h2";
}) {
  const { title, about, actions, children, level = "h2" } = props;
  return (
    <Container className="divide-y p-0">
      <div className="flex flex-wrap items-center justify-between gap-x-4 gap-y-2 px-6 py-4">
        <div>
          <Heading level={level}>{title}</Heading>
          {about && (
            <Text size="small" className="text-ui-fg-subtle">
              {about}
            </Text>
          )}
        </div>
        {actions && <div className="flex flex-wrap items-center gap-2">{actions}</div>}
      </div>
      {children}
    </Container>
  );
}

/** A name and what it is, on a line. */
export function Fact({ name, children }: { name: string; children: ReactNode }) {
  return (
    <div className="text-ui-fg-subtle grid grid-cols-2 items-start gap-x-4 px-6 py-3">
      <Text size="small" leading="compact" weight="plus">
        {name}
      </Text>
      <Text as="div" size="small" leading="compact" className="break-words">
        {children}
      </Text>
    </div>
  );
}

/** What stands where there is nothing to list. */
export function Nothing({ children }: { children: ReactNode }) {
  return (
    <Text size="small" className="text-ui-fg-muted px-6 py-8 text-center">
      {children}
    </Text>
  );
}
