/** Written by the build from the files of this folder. */
import type { Messages } from "./messages.js";

export const loaders: Record<string, () => Promise<Record<string, Messages>>> = {
  de: () => import("./de.js"),
  es: () => import("./es.js"),
  fr: () => import("./fr.js"),
  it: () => import("./it.js"),
  nl: () => import("./nl.js"),
  pl: () => import("./pl.js"),
  pt: () => import("./pt.js"),
};
