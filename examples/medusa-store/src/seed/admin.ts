import type { MedusaContainer } from "@medusajs/framework/types";
import { Modules } from "@medusajs/framework/utils";
import { createUsersWorkflow } from "@medusajs/medusa/core-flows";

/** Creates the admin user of `ADMIN_EMAIL` and `ADMIN_PASSWORD`, if set. (`medusa user` creates one later.) */
export async function createAdmin(container: MedusaContainer, env: NodeJS.ProcessEnv): Promise<void> {
  const { ADMIN_EMAIL: email, ADMIN_PASSWORD: password } = env;
  if (!email || !password) return;
  const auth = container.resolve(Modules.AUTH);
  const { authIdentity, error } = await auth.register("emailpass", { body: { email, password } });
  if (!authIdentity) throw new Error(`The admin user could not be created: ${error}`);
  const { result: users } = await createUsersWorkflow(container).run({ input: { users: [{ email }] } });
  await auth.updateAuthIdentities({ id: authIdentity.id, app_metadata: { user_id: users[0]?.id } });
}
