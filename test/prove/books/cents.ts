export const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0);
export const list = (values: readonly unknown[]) => `[${values.join(", ")}]`;
export const same = (some: readonly number[], others: readonly number[]) =>
  list([...some].sort((a, b) => a - b)) === list([...others].sort((a, b) => a - b));
