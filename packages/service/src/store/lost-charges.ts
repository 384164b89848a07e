import type { Cents, Secret } from "@giftcard-pay/client/contract";
import type pg from "pg";
import { type Queryable, transaction } from "../database/database.js";
import type { Deduction, Keyring } from "../secrets/keyring.js";
import { type Act, writeAudit } from "./audit.js";

/** A charge of a merchant's journal. */
export interface JournalCharge {
  readonly line: number;
  /** The devalue's Idempotency-Key. */
  readonly reference: string;
  readonly companyId: number;
  readonly requestedCents: Cents;
  readonly deductedCents: Cents;
  readonly lastFour: string;
  /** The SHA-256 of the cancel token; null if the merchant never got the token. */
  readonly tokenHash: Buffer | null;
  readonly isReversed: boolean;
}

/** The result for one charge. The database's function `import_charge` explains all but the last two. */
export type ImportResult =
  | "booked"
  | "reversed"
  | "unchanged"
  | "differs"
  | "key_closed"
  | "card_unproven"
  | "balance_too_low"
  | "company_unknown"
  /** Only a cancel is missing, and its row has no token. */
  | "cancel_unproven";

/** A charge with its result. */
export interface ImportedCharge {
  readonly charge: JournalCharge;
  readonly outcome: ImportResult;
  readonly cardId: number | null;
  readonly ledgerId: number | null;
}

/** An import of charges. */
export interface ImportOrder {
  readonly charges: readonly JournalCharge[];
  /** Numbers of cards, which prove a charge if a card was hashed under older secrets when the restore's copy was made. */
  readonly cardNumbers: readonly Secret[];
  /** The merchant that sent the file, according to the operator. Only its cancels need no token. */
  readonly senderId: number | undefined;
  /** Whether to judge each charge, but to lock and change nothing. */
  readonly isDryRun: boolean;
  readonly onProgress: (done: number, total: number) => void;
}

/** A card that a charge may have used, with its hashes by generation. */
interface Candidate {
  readonly cardId: number;
  readonly lastFour: string;
  readonly numberHashes: readonly (Buffer | undefined)[];
}

/** A card, and the deduction that proves that the charge used it. */
interface Proof {
  readonly cardId: number;
  readonly deduction: Deduction;
}

/** The results that change the ledger. */
const CHANGES: readonly ImportResult[] = ["booked", "reversed"];
/** The number of charges whose cards are read at once. */
const CHUNK = 1000;

/**
 * Books the charges that a restore lost, each in a transaction of its own: devalues of the same card wait for one row only, and
 * after a crash the import can be repeated. A charge is booked only if its cancel token is the one that this service derives
 * from the charge and a card.
 */
export async function importCharges(
  pool: pg.Pool,
  keys: Keyring,
  order: ImportOrder,
  act: Act,
): Promise<ImportedCharge[]> {
  const { isDryRun, onProgress } = order;
  const known = await readCompanies(pool);
  const proofs = await findProofs(pool, keys, order);
  const planned = await judge(pool, keys, order, { known, proofs });
  const changing = planned.filter(({ outcome }) => CHANGES.includes(outcome));
  if (isDryRun || changing.length === 0) return planned;
  const details = { charges: changing.length, cents: centsOf(changing) };
  const auditId = await writeAudit(pool, act, { action: "transactions import", details });
  const results: ImportedCharge[] = [];
  for (const result of planned) {
    const { charge, outcome } = result;
    const isFinal = outcome === "company_unknown" || isUnprovenCancel(charge, order);
    const call = { isDry: false, proof: proofs.get(charge), earlierCents: 0, auditId };
    results.push(isFinal ? result : await transaction(pool, (db) => importOne(db, keys, charge, call)));
    onProgress(results.length, planned.length);
  }
  return results;
}

/**
 * Whether nothing proves that the charge's merchant canceled it. Without a token, its row never takes money, but it could put
 * back the money of a charge of which the file's author knows the reference.
 */
const isUnprovenCancel = ({ isReversed, tokenHash, companyId }: JournalCharge, { senderId }: ImportOrder) =>
  isReversed && !tokenHash && companyId !== senderId;

const centsOf = (all: readonly ImportedCharge[]) =>
  all.reduce((sum, { charge }) => sum + (charge.isReversed ? 0 : charge.deductedCents), 0);

async function readCompanies(db: Queryable): Promise<Set<number>> {
  const { rows } = await db.query<{ id: number }>("select id from companies");
  return new Set(rows.map(({ id }) => id));
}

/** Judges each charge as if those before it were booked, without locking or changing anything. */
async function judge(
  db: Queryable,
  keys: Keyring,
  order: ImportOrder,
  { known, proofs }: { known: ReadonlySet<number>; proofs: ReadonlyMap<JournalCharge, Proof> },
): Promise<ImportedCharge[]> {
  const earlier = new Map<number, number>();
  const seen = new Set<string>();
  const results: ImportedCharge[] = [];
  for (const charge of order.charges) {
    const key = `${charge.companyId} ${charge.reference}`;
    const nothing = { charge, cardId: null, ledgerId: null };
    if (!known.has(charge.companyId)) results.push({ ...nothing, outcome: "company_unknown" });
    else if (seen.has(key))
      results.push({ ...nothing, outcome: isUnprovenCancel(charge, order) ? "cancel_unproven" : "unchanged" });
    else {
      const proof = proofs.get(charge);
      const earlierCents = earlier.get(proof?.cardId ?? 0) ?? 0;
      const result = await importOne(db, keys, charge, { isDry: true, proof, earlierCents, auditId: null });
      const { outcome, cardId } = result;
      if (outcome === "reversed" && isUnprovenCancel(charge, order)) {
        results.push({ ...result, outcome: "cancel_unproven" });
        continue;
      }
      results.push(result);
      // A row that is refused says nothing about another row with its reference.
      if (cardId === null || !CHANGES.includes(outcome)) continue;
      seen.add(key);
      const back = charge.isReversed ? charge.deductedCents : 0;
      const taken = outcome === "booked" ? charge.deductedCents : 0;
      earlier.set(cardId, (earlier.get(cardId) ?? 0) - taken + back);
    }
  }
  return results;
}

/** Calls the database's function `import_charge`. */
async function importOne(
  db: Queryable,
  keys: Keyring,
  charge: JournalCharge,
  call: { isDry: boolean; proof: Proof | undefined; earlierCents: number; auditId: number | null },
): Promise<ImportedCharge> {
  const { reference, companyId, requestedCents, deductedCents, tokenHash, isReversed } = charge;
  const { isDry, proof, earlierCents, auditId } = call;
  const { rows } = await db.query<{ outcome: ImportResult; cardId: number | null; ledgerId: number | null }>(
    `select outcome, card_id as "cardId", ledger_id as "ledgerId"
       from import_charge($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)`,
    [
      isDry,
      companyId,
      keys.idempotencyKey(reference),
      requestedCents,
      deductedCents,
      tokenHash,
      isReversed,
      proof?.cardId ?? null,
      proof?.deduction.id ?? null,
      proof?.deduction.nonce ?? null,
      earlierCents,
      auditId,
    ],
  );
  return { charge, ...(rows[0] as (typeof rows)[number]) };
}

/** Finds the card of each charge: the one for which this service derives the charge's cancel token. */
async function findProofs(
  db: Queryable,
  keys: Keyring,
  { charges, cardNumbers }: ImportOrder,
): Promise<Map<JournalCharge, Proof>> {
  const proofs = new Map<JournalCharge, Proof>();
  const named = await readNamed(db, keys, cardNumbers);
  for (let first = 0; first < charges.length; first += CHUNK) {
    const chunk = charges.slice(first, first + CHUNK);
    const byDigits = new Map<string, Candidate[]>();
    for (const one of [...named, ...(await readCandidates(db, chunk))])
      byDigits.set(one.lastFour, [...(byDigits.get(one.lastFour) ?? []), one]);
    for (const charge of chunk) {
      const proof = findProof(keys, charge, byDigits.get(charge.lastFour) ?? []);
      if (proof) proofs.set(charge, proof);
    }
  }
  return proofs;
}

function findProof(keys: Keyring, charge: JournalCharge, candidates: readonly Candidate[]): Proof | undefined {
  const { companyId, reference: idempotencyKey, requestedCents: amountCents, tokenHash } = charge;
  if (!tokenHash) return undefined;
  for (const { cardId, numberHashes } of candidates) {
    const deductions = keys.deductions({ companyId, idempotencyKey, amountCents }, numberHashes);
    for (const deduction of deductions) {
      if (deduction && keys.derivesToken(deduction, tokenHash)) return { cardId, deduction };
    }
  }
  return undefined;
}

/** Reads the cards with the last digits of these charges. A card has the hash of one generation. */
async function readCandidates(db: Queryable, charges: readonly JournalCharge[]): Promise<Candidate[]> {
  const { rows } = await db.query<{ id: number; lastFour: string; hash: Buffer; generation: number }>(
    `select id, last_four as "lastFour", number_hash as hash, generation from cards where last_four = any($1) order by id`,
    [[...new Set(charges.map(({ lastFour }) => lastFour))]],
  );
  return rows.map(({ id, lastFour, hash, generation }) => {
    const numberHashes: (Buffer | undefined)[] = new Array(generation).fill(undefined);
    numberHashes[generation - 1] = hash;
    return { cardId: id, lastFour, numberHashes };
  });
}

/** Finds cards by their numbers, with their hashes under all generations. */
async function readNamed(db: Queryable, keys: Keyring, cardNumbers: readonly Secret[]): Promise<Candidate[]> {
  const found: Candidate[] = [];
  for (const cardNumber of cardNumbers) {
    const numberHashes = keys.cardNumbers(cardNumber);
    const { rows } = await db.query<{ id: number }>("select id from cards where number_hash = any($1)", [numberHashes]);
    for (const { id } of rows) found.push({ cardId: id, lastFour: cardNumber.lastFour(), numberHashes });
  }
  return found;
}
