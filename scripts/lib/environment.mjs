/**
 * Cleans this process's environment, and so that of each process it starts, of what a developer's machine may have set.
 * Import it before anything that reads the environment.
 */

/**
 * Settings of libpq, of this repository's programs, of Medusa and its neighbours, and the repository that a git hook runs in.
 * Commands and tests pass the ones they need to the processes they start. The exceptions come from such a parent.
 */
const settings =
  /^(PG(?!BOUNCER$)[A-Z]+|GIFTCARD_(?!TEST_|PARENT_PID$|SITE_ADDRESS$)\w+|MEDUSA_\w+|(\w+_)?(DATABASE|REDIS|STOREFRONT|BANK|SHOP)_URL|\w+_CORS|(JWT|COOKIE)_SECRET|DISABLE_ADMIN|LOG_(LEVEL|FILE)|NODE_ENV|NODE_USE_ENV_PROXY|HOST|PORT|GIT_(DIR|WORK_TREE|INDEX_FILE))$/;

const LOOPBACK = ["localhost", "127.0.0.1", "::1"];

for (const name of Object.keys(process.env)) if (settings.test(name)) delete process.env[name];

// npm still uses a proxy. Node read NODE_USE_ENV_PROXY when this process started, but reads the exceptions at each call.
const direct = process.env.no_proxy ?? process.env.NO_PROXY;
const hosts = [...(direct ? [direct] : []), ...LOOPBACK].join(",");
process.env.no_proxy = hosts;
process.env.NO_PROXY = hosts;
