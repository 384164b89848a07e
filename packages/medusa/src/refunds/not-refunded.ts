import type { MedusaError } from "@medusajs/framework/utils";
import { refusal } from "../errors.js";
import { faultOf } from "../recovery/failing-jobs.js";
import { say } from "../served-texts.js";

/** Creates the error for a refund that isn't made. @param message says why, in sentences of `SERVED_TEXTS` */
export const notRefunded = (message: string): MedusaError => refusal(`${message} ${say("nothing")}`);

/** Describes a failure without the full stop at its end. */
export const sentenceOf = (failure: unknown): string => faultOf(failure).replace(/\.$/, "");
