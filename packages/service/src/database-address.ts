import fs from "node:fs";
import type { ConnectionOptions } from "node:tls";
import { exitCodes, OperatorError } from "./operator-error.js";

/** A server of the database. Without a name it is where PostgreSQL is by default. */
export interface DatabaseHost {
  readonly name: string | undefined;
  readonly port: number | undefined;
}

const targets = ["any", "read-write", "primary"] as const;
/** What a host must be: any that answers, one that takes writes, or one that isn't a standby. */
export type HostTarget = (typeof targets)[number];

/** What a database's address says. */
export interface DatabaseAddress {
  /** The address of the first host, without what is said here. It holds the password: never print it. */
  readonly connectionString: string;
  /** In the order in which they are tried. */
  readonly hosts: readonly DatabaseHost[];
  readonly target: HostTarget;
  /** How TLS is used; undefined where the address doesn't say. */
  readonly ssl: ConnectionOptions | false | undefined;
  /** True behind a PgBouncer that gives each transaction another session. */
  readonly isPooled: boolean;
}

const ADDRESS = /^(postgres(?:ql)?:\/\/)(?:([^/?#]*)@)?([^/?#]*)([^?#]*)(?:\?([^#]*))?$/;
const USUAL_PORT = 5432;
const HOST = /^(\[[^\]]+\]|[^:]*)(?::(\d{1,5}))?$/;

/**
 * Reads an address as libpq does: several hosts, `target_session_attrs`, and `sslmode` with its files; besides,
 * `pgbouncer=true`.
 *
 * @throws {OperatorError} when it says something else; never with the address, which holds the password
 */
export function readAddress(url: string): DatabaseAddress {
  const [, scheme, user, hostList = "", path = "", query = ""] = ADDRESS.exec(url) ?? [];
  if (scheme === undefined) throw wrong("The database address is not a postgres:// address.");
  const parameters = new URLSearchParams(query);
  const take = (name: string) => {
    const value = parameters.get(name) ?? undefined;
    parameters.delete(name);
    return value;
  };
  const hosts = readHosts(hostList);
  const target = readTarget(take("target_session_attrs") ?? (hosts.length > 1 ? "read-write" : "any"));
  const ssl = readSsl(take);
  const isPooled = readBoolean("pgbouncer", take("pgbouncer"));
  refuseUnknown(parameters.keys());
  const [first = ""] = hostList.split(",");
  const rest = parameters.size > 0 ? `?${parameters}` : "";
  const connectionString = `${scheme}${user === undefined ? "" : `${user}@`}${first}${path}${rest}`;
  try {
    new URL(connectionString, "postgres://base");
  } catch {
    // An address without a host is none for Node, and one for pg.
    if (first !== "") throw wrong("The database address is not a postgres:// address.");
  }
  return { connectionString, hosts, target, ssl, isPooled };
}

const wrong = (message: string) => new OperatorError(message, exitCodes.usage);

/** What an address may say besides: the driver's to read, or to leave. */
const OTHERS =
  /^(host|port|user|password|dbname|options|(fallback_)?application_name|client_encoding|connect_timeout|tcp_user_timeout|keepalives(_\w+)?|channel_binding|gssencmode|ssl)$/;

/** A mistyped sslmode would leave TLS out without a word. The name isn't shown: it may be the rest of a password. */
function refuseUnknown(names: Iterable<string>): void {
  for (const name of names)
    if (!OTHERS.test(name))
      throw wrong(
        "The database address has a parameter that is not known. Is one mistyped? Those for TLS are sslmode, " +
          "sslrootcert, sslcert and sslkey.",
      );
}

function readHosts(list: string): DatabaseHost[] {
  const texts = list.split(",");
  return texts.map((text) => {
    const [, name, port] = HOST.exec(text) ?? [];
    if (name === undefined || Number(port) > 65_535 || (name === "" && texts.length > 1))
      throw wrong("A host of the database address is not written as name:port, with a comma between two.");
    // Of several, none has the port of the first.
    const usual = texts.length > 1 ? USUAL_PORT : undefined;
    return {
      name: name === "" ? undefined : decodeURIComponent(name.replace(/^\[|\]$/g, "")),
      port: port === undefined ? usual : Number(port),
    };
  });
}

function readTarget(text: string): HostTarget {
  const target = targets.find((one) => one === text);
  if (target) return target;
  throw wrong(`target_session_attrs must be ${targets.join(", ")}: the service writes.`);
}

function readBoolean(name: string, text: string | undefined): boolean {
  if (text === undefined || text === "false") return false;
  if (text === "true") return true;
  throw wrong(`${name} must be true or false.`);
}

/** As libpq: `require` encrypts and trusts whoever answers, `verify-ca` wants a certificate, `verify-full` its name too. */
function readSsl(take: (name: string) => string | undefined): ConnectionOptions | false | undefined {
  const mode = take("sslmode");
  const [root, cert, key] = (["sslrootcert", "sslcert", "sslkey"] as const).map((name) => ({
    name,
    file: take(name),
  }));
  const own = { ...content("cert", cert), ...content("key", key) };
  const ca = root?.file === "system" ? {} : content("ca", root);
  const checkServerIdentity = () => undefined;
  switch (mode) {
    case undefined:
      if (root?.file ?? cert?.file ?? key?.file)
        throw wrong("sslrootcert, sslcert and sslkey need sslmode: require, verify-ca or verify-full.");
      return undefined;
    case "disable":
      return false;
    case "require":
      return root?.file ? { ...own, ...ca, checkServerIdentity } : { ...own, rejectUnauthorized: false };
    case "verify-ca":
      if (!root?.file || root.file === "system")
        throw wrong("sslmode=verify-ca needs sslrootcert: the file of the authority's certificate.");
      return { ...own, ...ca, checkServerIdentity };
    case "verify-full":
      return { ...own, ...ca };
    default:
      throw wrong("sslmode must be disable, require, verify-ca or verify-full.");
  }
}

function content(
  as: "ca" | "cert" | "key",
  parameter: { name: string; file: string | undefined } | undefined,
): ConnectionOptions {
  if (!parameter?.file) return {};
  try {
    return { [as]: fs.readFileSync(parameter.file, "utf8") };
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw wrong(`The file of ${parameter.name} cannot be read (${code}): ${parameter.file}.`);
  }
}
