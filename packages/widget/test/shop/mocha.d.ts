/** The globals of Mocha, which the test runner adds to each page. */
declare const describe: {
  (name: string, body: () => void): void;
  skip(name: string, body: () => void): void;
};
declare const it: (name: string, body: () => Promise<void> | void) => void;
declare const before: (body: () => Promise<void> | void) => void;
declare const afterEach: (body: () => Promise<void> | void) => void;
