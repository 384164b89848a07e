import type { ComponentProps } from "react";

export const clx = (...names: (string | false | undefined)[]): string => names.filter(Boolean).join(" ");

export const Heading = ({ level: Level = "h2", ...rest }: ComponentProps<"h2"> & { level?: "h1" | "h2" | "h3" }) => (
  <Level {...rest} />
);

type ButtonProps = ComponentProps<"button"> & { size?: string; isLoading?: boolean };

export const Button = ({ size: _, isLoading = false, disabled = false, ...rest }: ButtonProps) => (
  <button type="button" {...rest} disabled={disabled || isLoading} aria-busy={isLoading} />
);
