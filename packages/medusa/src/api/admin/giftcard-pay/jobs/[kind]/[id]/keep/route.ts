import { jobKinds, keepJob } from "../../../../../../../recovery/failing-jobs.js";
import { adminRoute, notOpen, readActor } from "../../../../admin-route.js";

/**
 * A person's decision that a failing job isn't tried any more. Who decided is written down. Looking for what is to be done
 * goes on in any case, and so does telling that it fails.
 */
export const POST = adminRoute(async ({ run, req }) => {
  const { kind, id } = req.params as { kind: string; id: string };
  const known = jobKinds.find((one) => one === kind && one !== "scan");
  if (known && (await keepJob(run, { kind: known, id }, await readActor(req)))) return { kind, id };
  throw notOpen("There is no such job (any more).");
});
