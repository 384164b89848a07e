/**
 * Makes `instanceof` recognize the instances of a class from every copy of it in the process. A bundle that both imports
 * and requires a package contains two copies.
 *
 * @param type a class. Subclasses that other packages derive from it keep the usual `instanceof`
 * @param name the class's name, unique in the process
 */
export function recognizeCopies(type: abstract new (...args: never[]) => object, name: string): void {
  const mark = Symbol.for(name);
  Object.defineProperty(type.prototype, mark, { value: true });
  Object.defineProperty(type, Symbol.hasInstance, {
    value(this: unknown, value: unknown): boolean {
      if (this !== type) return Function.prototype[Symbol.hasInstance].call(this, value);
      return typeof value === "object" && value !== null && mark in value;
    },
  });
}
