import { z } from "@medusajs/framework/zod";
import { compareWithIssuer } from "../../../../../issuer/compare.js";
import { adminRoute } from "../../admin-route.js";

/** Compares the delivered events with the issuer's list. */
export const POST = adminRoute(z.unknown(), ({ context }) => compareWithIssuer(context));
