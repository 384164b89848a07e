/** A Medusa without any plugin: the faults of `docs/medusa-faults.md` are Medusa's own. */
const { defineConfig } = require("@medusajs/framework/utils");

const { DATABASE_URL: databaseUrl, JWT_SECRET: jwtSecret, COOKIE_SECRET: cookieSecret } = process.env;

// Medusa makes a single provider the default. With two of them, the default stays in memory.
const locks = ["locking-postgres", "another"].map((id) => ({ resolve: "@medusajs/medusa/locking-postgres", id }));
module.exports = defineConfig({
  projectConfig: { databaseUrl, http: { storeCors: "", adminCors: "", authCors: "", jwtSecret, cookieSecret } },
  admin: { disable: true },
  modules: {
    locking: { resolve: "@medusajs/medusa/locking", options: { providers: locks } },
    payment: {
      resolve: "@medusajs/medusa/payment",
      options: { providers: [{ resolve: "./src/providers/bank", id: "bank", options: {} }] },
    },
  },
});
