/** Random numbers from a seed, cheap enough for every call of a history. */

/** Mixes numbers to one of 32 bits. */
export function mix(...numbers: readonly number[]): number {
  let hash = 0x9e3779b9;
  for (const number of numbers) {
    hash = Math.imul(hash ^ number, 0x85ebca6b);
    hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
    hash ^= hash >>> 16;
  }
  return hash >>> 0;
}

/** A stream of random numbers. */
export class Random {
  #count = 0;
  constructor(readonly seed: number) {}

  /** Returns 32 random bits. */
  bits(): number {
    this.#count += 1;
    return mix(this.seed, this.#count);
  }

  /** Returns a random UUID. */
  uuid(): `${string}-${string}-${string}-${string}-${string}` {
    const hex = [0, 0, 0, 0].map(() => this.bits().toString(16).padStart(8, "0")).join("");
    return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20)}`;
  }

  /** Fills bytes. */
  fill<Bytes extends ArrayBufferView>(bytes: Bytes): Bytes {
    const view = new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    for (let at = 0; at < view.length; at += 1) view[at] = this.bits();
    return bytes;
  }
}
