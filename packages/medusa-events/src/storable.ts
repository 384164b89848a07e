import { z } from "@medusajs/framework/zod";

/** A text that PostgreSQL can store: without NUL, and without half of a surrogate pair. */
export const storable = z
  .string()
  .refine((value) => value.isWellFormed() && !value.includes("\0"), "holds a character that can't be stored");
