import type { Queryable } from "../database.js";

/** What stands under a generation of the secrets. */
export interface GenerationCount {
  readonly generation: number;
  readonly createdAt: Date;
  readonly cards: number;
}

/** Counts the cards under each generation, oldest first, and what is not under the newest yet. */
export async function countByGeneration(
  db: Queryable,
): Promise<{ generations: GenerationCount[]; oldCards: number; oldPasswords: number }> {
  const { rows: generations } = await db.query<GenerationCount>(
    `select g.id as generation, g.created_at as "createdAt", coalesce(c.cards, 0) as cards
       from secret_generations g
       left join (select generation, count(*) as cards from cards group by generation) c on c.generation = g.id
       order by g.id`,
  );
  const { rows } = await db.query<{ count: number }>(
    "select count(*) from accounts where password_generation < (select max(id) from secret_generations)",
  );
  const oldCards = generations.slice(0, -1).reduce((sum, { cards }) => sum + cards, 0);
  return { generations, oldCards, oldPasswords: rows[0]?.count ?? 0 };
}
