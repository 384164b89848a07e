import { defineConfig } from "@medusajs/framework/utils";

/** Everything that differs between machines comes from the environment; see the README for the list. */
const env = process.env;

export default defineConfig({
  projectConfig: {
    databaseUrl: env.DATABASE_URL,
    http: {
      storeCors: env.STORE_CORS ?? "",
      adminCors: env.ADMIN_CORS ?? "",
      authCors: env.AUTH_CORS ?? "",
      jwtSecret: env.JWT_SECRET,
      cookieSecret: env.COOKIE_SECRET,
    },
    // A shop on plain http, as in the demo, needs a cookie that plain http carries.
    ...(env.COOKIE_SECURE === "false" && { cookieOptions: { secure: false, sameSite: "lax" as const } }),
  },
  admin: {
    disable: env.DISABLE_ADMIN === "true",
    path: "/app",
  },
});
