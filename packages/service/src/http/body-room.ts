/** The total size of the bodies in a process, each counted from its first byte until its call is answered. */
const LIMIT_BYTES = 24 * 1024 * 1024;
/** Bodies up to this size are not counted: calls on cards are smaller, and connections are limited. */
const FREE_BYTES = 16 * 1024;

/** One body's share of the room. */
export interface BodyShare {
  /**
   * Reserves room before the bytes are stored. If there is too little, the body that has been arriving for longest is
   * ended: callers normally send a body within moments, so slow senders lose their room first.
   *
   * @param bytes the total size of the body's buffer
   * @returns false if only complete bodies hold the room; the share is then released
   */
  grow(bytes: number): boolean;
  /** Marks the body as complete: it is not ended for others any more. */
  arrived(): void;
  /** Releases the room. May be called repeatedly. */
  release(): void;
}

/** Counts the bytes of bodies before they are read. */
export class BodyRoom {
  #heldBytes = 0;
  /** The arriving bodies, oldest first, each with a function that ends it. */
  readonly #arriving = new Map<BodyShare, () => void>();

  /**
   * Opens a share for a new body.
   *
   * @param giveWay ends the body, whose share is already released
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

  /** Ends the oldest arriving body except this one. @returns false if there is none */
  #endOldest(except: BodyShare): boolean {
    for (const [share, giveWay] of this.#arriving) {
      if (share === except) continue;
      share.release();
      giveWay();
      return true;
    }
    return false;
  }
}
