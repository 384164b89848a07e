/** The configuration that `create-medusa-app` writes, setting by setting. The plugin must load with it. */
const { loadEnv } = require("@medusajs/framework/utils");

loadEnv("test", process.cwd());

const testMatch = {
  "integration:http": ["**/integration-tests/http/*.spec.[jt]s"],
  "integration:modules": ["**/src/modules/*/__tests__/**/*.[jt]s"],
  unit: ["**/src/**/__tests__/**/*.unit.spec.[jt]s"],
};

module.exports = {
  transform: {
    "^.+\\.[jt]s$": ["@swc/jest", { jsc: { parser: { syntax: "typescript", decorators: true } } }],
  },
  testEnvironment: "node",
  moduleFileExtensions: ["js", "ts", "json"],
  modulePathIgnorePatterns: ["dist/", "<rootDir>/.medusa/"],
  setupFiles: ["./integration-tests/setup.js"],
  testMatch: testMatch[process.env.TEST_TYPE],
};
