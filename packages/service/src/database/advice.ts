/** For a failure's code: the reason, and what to do. The first match counts. */
const ADVICE: readonly (readonly [codes: RegExp, advice: string])[] = [
  [/^25006$/, "It takes no writes: it is a standby, or was made read-only. Give the address of the primary."],
  // PgBouncer's code for a startup setting that it is not configured to ignore.
  [
    /^08P01$/,
    "PgBouncer in transaction mode needs pgbouncer=true in the address: see `PgBouncer` in docs/service-scaling.md.",
  ],
  [/CERT|SIGNATURE/, "Its certificate is rejected by sslmode and sslrootcert."],
  [/^ECONNREFUSED$/, "Nothing listens at its address: is it running?"],
  [/^(ENOTFOUND|EAI_AGAIN)$/, "The host in its address is unknown."],
  [/^28/, "It rejects the user or the password in its address."],
  [/^3D000$/, "It has no database with the name in its address."],
  [/^57P03$/, "It is starting or stopping. Try again."],
  [/^53/, "Its disk is full, or it lacks memory or connections. Free some, and try again."],
  [
    /^42501$/,
    "The user in its address lacks the permission. Make that user the owner: alter database NAME owner to USER.",
  ],
  [/^(XX00[12]|58)/, "Its files are damaged or unreadable: see its log. If they are damaged, restore a backup."],
];

/**
 * Returns what an operator can do about a failure of the database.
 *
 * @param code of PostgreSQL or of the system
 * @returns undefined for an unknown code
 */
export const databaseAdvice = (code: string): string | undefined => ADVICE.find(([codes]) => codes.test(code))?.[1];
