/** By the code of a failure: what is the matter, and what to do. The first that fits counts. */
const ADVICE: readonly (readonly [codes: RegExp, advice: string])[] = [
  [/^25006$/, "It takes no writes: it is a standby, or was made read-only. Give the address of the primary."],
  // PgBouncer's word for a setting in a connection's first message that it was not told to ignore.
  [
    /^08P01$/,
    "A PgBouncer in transaction mode wants pgbouncer=true in the address: see `Growing` in operating.md.",
  ],
  [/CERT|SIGNATURE/, "Its certificate is not one that sslmode and sslrootcert allow."],
  [/^ECONNREFUSED$/, "Nothing listens at its address: is it running?"],
  [/^(ENOTFOUND|EAI_AGAIN)$/, "The host in its address is not known."],
  [/^28/, "It refuses the user or the password of its address."],
  [/^3D000$/, "It has no database of the name in its address."],
  [/^57P03$/, "It is starting or stopping: try again."],
  [
    /^53/,
    "It has no room left: its disk is full, or it lacks memory or connections. Make room, and try again.",
  ],
  [/^42501$/, "Its user may not do this. Make that user the owner: alter database NAME owner to USER."],
  [
    /^(XX00[12]|58)/,
    "Its files are damaged, or can't be read: see its log. Put a backup back where it is so.",
  ],
];

/**
 * What an operator can do about a failure of the database.
 *
 * @param code of PostgreSQL or of the system
 * @returns undefined where it isn't known
 */
export const databaseAdvice = (code: string): string | undefined =>
  ADVICE.find(([codes]) => codes.test(code))?.[1];
