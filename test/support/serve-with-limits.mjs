// Runs `serve` with limits and timeouts that its command line keeps constant: those of TEST_LIMITS, a JSON value.
const { listenForSignals } = await import("../../packages/service/dist/cli/ending.js");
const { serve } = await import("../../packages/service/dist/cli/run-serve.js");
const { defaultLimits, defaultTimeouts } = await import("../../packages/service/dist/limits/limits.js");

const { GIFTCARD_DATABASE_URL: databaseUrl, TEST_LIMITS = "{}" } = process.env;
const { environment, limits, timeouts } = JSON.parse(TEST_LIMITS);
const merged = Object.entries(defaultLimits).map(([name, value]) => [
  name,
  typeof value === "object" ? { ...value, ...limits[name] } : (limits[name] ?? value),
]);
await serve(
  {
    ...{ databaseUrl, dataDir: ".", json: true, environment, logLevel: "info", stopGrace: 0 },
    ...{ host: "127.0.0.1", port: 0, metricsHost: "127.0.0.1", metricsPort: 0 },
    limits: Object.fromEntries(merged),
    timeouts: { ...defaultTimeouts, ...timeouts },
  },
  listenForSignals(),
);
