/** What happens right before a call, once. */
interface Rival {
  readonly method: PropertyKey;
  readonly isMeant: (...args: never[]) => boolean;
  readonly act: () => unknown;
}

/**
 * A real store's part with somebody else at it: what is named happens right before the next call that is meant, as
 * another process would come in between. Where it throws, the call fails with that, and nothing is done.
 */
export function withRival<Part extends object>(real: Part) {
  const rivals: Rival[] = [];
  const part = new Proxy(real, {
    get(target, method) {
      const own = Reflect.get(target, method);
      if (typeof own !== "function") return own;
      return async (...args: never[]) => {
        const at = rivals.findIndex((rival) => rival.method === method && rival.isMeant(...args));
        if (at >= 0) await rivals.splice(at, 1)[0]?.act();
        return own.apply(target, args);
      };
    },
  });
  /** @param isMeant judges the call by its arguments; left out, the next one is meant */
  function before<Method extends keyof Part>(
    method: Method,
    act: () => unknown,
    isMeant: Part[Method] extends (...args: infer Args) => unknown
      ? (...args: Args) => boolean
      : never = (() => true) as never,
  ): void {
    rivals.push({ method, isMeant, act });
  }
  /** Whether all that was to happen in between has happened. */
  return { part, before, isOver: () => rivals.length === 0 };
}
