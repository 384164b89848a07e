import { GiftcardError } from "@giftcard-pay/client";
import type { AuthenticatedMedusaRequest, MedusaResponse } from "@medusajs/framework/http";
import { MedusaError, Modules } from "@medusajs/framework/utils";
import { z } from "@medusajs/framework/zod";
import { contextOf, type EventsContext, storable } from "../../../context.js";

/** The arguments of a route's handler. */
interface AdminCall<Input> {
  readonly context: EventsContext;
  /** The checked query of a GET, or the checked body. */
  readonly input: Input;
  /** The route's `:id`. */
  readonly id: string;
  readonly req: AuthenticatedMedusaRequest;
}

/** Makes a route for logged-in staff; Medusa lets nobody else through. */
export const adminRoute =
  <Schema extends z.ZodType, T>(schema: Schema, handle: (call: AdminCall<z.output<Schema>>) => Promise<T>) =>
  async (req: AuthenticatedMedusaRequest, res: MedusaResponse): Promise<void> => {
    const read = schema.safeParse(req.method === "GET" ? req.query : (req.body ?? {}));
    if (!read.success) {
      const faults = read.error.issues.map(({ path, message }) => `${path.join(".") || "body"}: ${message}`);
      throw new MedusaError(MedusaError.Types.INVALID_DATA, `Nothing was done. ${faults.join("; ")}`);
    }
    const call = { context: contextOf(req.scope), input: read.data, id: String(req.params.id), req };
    const answer = await handle(call).catch((error) => {
      // Its message contains the issuer's response for staff, and no secret.
      if (!(error instanceof GiftcardError)) throw error;
      throw new MedusaError(MedusaError.Types.NOT_ALLOWED, error.message, error.code);
    });
    res.status(200).json(answer);
  };

/** The keys of events, in a body. */
export const keys = z
  .array(storable.min(1).max(200))
  .min(1)
  .max(500)
  .transform((all) => [...new Set(all)]);

/** Returns who makes a request, for the record: a person's email, or the id of an API key. */
export async function readActor({ auth_context, scope }: AuthenticatedMedusaRequest): Promise<string> {
  const { actor_id: id, actor_type: type } = auth_context;
  if (type !== "user") return `${type} ${id}`;
  const [user] = await scope.resolve(Modules.USER).listUsers({ id }, { select: ["email"] });
  return user?.email ?? id;
}
