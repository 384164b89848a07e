/** An action of another process, right before a call, once. */
interface Rival {
  readonly method: PropertyKey;
  readonly isMeant: (...args: never[]) => boolean;
  readonly act: () => unknown;
}

/**
 * Wraps a part of a real store, so that another process can act right before a certain call. If its action throws, the call
 * fails with that error, and does nothing.
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
  /** @param isMeant selects the call by its arguments. Default: the next one */
  function before<Method extends keyof Part>(
    method: Method,
    act: () => unknown,
    isMeant: Part[Method] extends (...args: infer Args) => unknown ? (...args: Args) => boolean : never = (() =>
      true) as never,
  ): void {
    rivals.push({ method, isMeant, act });
  }
  /** Whether all actions have happened. */
  return { part, before, isOver: () => rivals.length === 0 };
}
