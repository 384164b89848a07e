/** Random values determined by a seed. */
export interface Random {
  /** Returns a whole number from `from` to `to`, both included. */
  int(from: number, to: number): number;
  chance(probability: number): boolean;
  pick<T>(list: readonly T[]): T;
  /** Picks a key with a probability proportional to its weight. */
  weighted<T extends string>(weights: Readonly<Partial<Record<T, number>>>): T;
  shuffle<T>(list: readonly T[]): T[];
}

/** Creates a Mulberry32 generator. Its seed is mixed first, so that consecutive seeds give unrelated values. */
export function createRandom(seed: number): Random {
  let state = Math.imul(seed ^ (seed >>> 16), 0x45d9f3b) ^ 0x9e3779b9;
  const next = () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const int = (from: number, to: number) => from + Math.floor(next() * (to - from + 1));
  return {
    int,
    chance: (probability) => next() < probability,
    pick: <T>(list: readonly T[]) => list[int(0, list.length - 1)] as T,
    weighted<T extends string>(weights: Readonly<Partial<Record<T, number>>>) {
      const entries = Object.entries(weights) as [T, number][];
      let left = next() * entries.reduce((sum, [, weight]) => sum + weight, 0);
      for (const [name, weight] of entries) {
        left -= weight;
        if (left < 0) return name;
      }
      return (entries.at(-1) as [T, number])[0];
    },
    shuffle<T>(list: readonly T[]) {
      const left = [...list];
      return list.map(() => left.splice(int(0, left.length - 1), 1)[0] as T);
    },
  };
}
