/** What all bodies that a process holds may have together, from their first byte to their call's answer. */
const LIMIT_BYTES = 24 * 1024 * 1024;
/** A body of so many bytes takes no room: every call on a card is smaller, and connections are limited. */
const FREE_BYTES = 16 * 1024;

/** One body's part of the room. */
export interface BodyShare {
  /**
   * Asks for room before the bytes are kept. Where there is too little, the body that has been arriving for longest gives
   * way: callers send theirs within moments, and who fills the room by sending slowly is the first to lose it.
   *
   * @param bytes how large the body's buffer is to be, all in all
   * @returns false when only bodies that have arrived are left; the share is then given back
   */
  grow(bytes: number): boolean;
  /** It is all there, and does not give way any more. */
  arrived(): void;
  /** Gives the room back; also more than once. */
  release(): void;
}

/** Counts the bytes of bodies, before they are read. */
export class BodyRoom {
  #heldBytes = 0;
  /** Oldest first, each with what ends it. */
  readonly #arriving = new Map<BodyShare, () => void>();

  /**
   * Begins a body that has no byte yet.
   *
   * @param giveWay ends it; its share is given back already
   */
  open(giveWay: () => void): BodyShare {
    let ownBytes = 0;
    const share: BodyShare = {
      grow: (bytes) => {
        const moreBytes = (bytes > FREE_BYTES ? bytes : 0) - ownBytes;
        if (moreBytes <= 0) return true;
        while (this.#heldBytes + moreBytes > LIMIT_BYTES && this.#endOldest(share));
        if (this.#heldBytes + moreBytes > LIMIT_BYTES) {
          share.release();
          return false;
        }
        this.#heldBytes += moreBytes;
        ownBytes += moreBytes;
        this.#arriving.set(share, giveWay);
        return true;
      },
      arrived: () => void this.#arriving.delete(share),
      release: () => {
        this.#arriving.delete(share);
        this.#heldBytes -= ownBytes;
        ownBytes = 0;
      },
    };
    return share;
  }

  /** @returns whether another one than this gave way */
  #endOldest(but: BodyShare): boolean {
    for (const [share, giveWay] of this.#arriving) {
      if (share === but) continue;
      share.release();
      giveWay();
      return true;
    }
    return false;
  }
}
