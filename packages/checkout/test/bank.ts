export { TestBank as Bank } from "../testing/index.js";

/** Makes a gate that stops a call until it is opened. */
export function gate() {
  let open = () => {};
  let arrive = () => {};
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  const arrived = new Promise<void>((resolve) => {
    arrive = resolve;
  });
  /** Stops here, and returns the value once the gate is open. */
  async function pass<T>(answer: T): Promise<T> {
    arrive();
    await opened;
    return answer;
  }
  return { open: () => open(), arrived, pass };
}
