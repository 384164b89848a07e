import fs from "node:fs";
import type { ConnectionOptions } from "node:tls";
import { exitCodes, OperatorError } from "../operator-error.js";

/** A database's address, read. */
export interface DatabaseAddress {
  /** The address for `pg`, without the parameters that are read here. It holds the password: never print it. */
  readonly connectionString: string;
  /** The TLS options; undefined if the address says nothing about TLS. */
  readonly ssl: ConnectionOptions | false | undefined;
  /** Whether a PgBouncer in transaction mode gives each transaction another session. */
  readonly isPooled: boolean;
}

const ADDRESS = /^postgres(?:ql)?:\/\/(?:[^/?#]*@)?([^/?#]*)[^?#]*(?:\?([^#]*))?$/;

/**
 * Reads a database's address as libpq does, TLS included, but with one host.
 *
 * @throws {OperatorError} if the address is invalid; the message never shows the address, which holds the password
 */
export function readAddress(url: string): DatabaseAddress {
  const [, host, query = ""] = ADDRESS.exec(url) ?? [];
  const parameters = new URLSearchParams(query);
  if (host?.includes(",") || parameters.get("host")?.includes(",") || parameters.has("target_session_attrs"))
    throw wrong(
      "The database address names several hosts. Give the one address that always leads to the primary, without " +
        "target_session_attrs: see `A standby that takes over` in docs/service-scaling.md.",
    );
  // `pg` finds the host itself if the address names none; Node.js rejects such a URL.
  if (host === undefined || (host !== "" && !URL.canParse(url)))
    throw wrong("The database address is not valid. Write postgres://USER:PASSWORD@HOST:PORT/DATABASE.");
  const take = (name: string) => {
    const value = parameters.get(name) ?? undefined;
    parameters.delete(name);
    return value;
  };
  const ssl = readSsl(take);
  const isPooled = readBoolean("pgbouncer", take("pgbouncer"));
  rejectUnknown(parameters.keys());
  const [start = ""] = url.split("?", 1);
  return { connectionString: parameters.size > 0 ? `${start}?${parameters}` : start, ssl, isPooled };
}

const wrong = (message: string) => new OperatorError(message, exitCodes.usage);

/** The other parameters of libpq: `pg` reads them or ignores them. */
const OTHERS =
  /^(host|port|user|password|dbname|options|(fallback_)?application_name|client_encoding|connect_timeout|tcp_user_timeout|keepalives(_\w+)?|channel_binding|gssencmode|ssl)$/;

/** A mistyped `sslmode` would turn TLS off silently. The name is not shown: it may be the end of a password. */
function rejectUnknown(names: Iterable<string>): void {
  for (const name of names)
    if (!OTHERS.test(name))
      throw wrong(
        "The database address has an unknown parameter. Is one mistyped? Those for TLS are sslmode, sslrootcert, " +
          "sslcert and sslkey.",
      );
}

function readBoolean(name: string, text: string | undefined): boolean {
  if (text === undefined || text === "false") return false;
  if (text === "true") return true;
  throw wrong(`${name} must be true or false.`);
}

/**
 * Reads the TLS parameters with libpq's meaning: `require` encrypts and trusts any server, `verify-ca` checks the
 * certificate's authority, `verify-full` also the host's name.
 */
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
