/** The words of mocha, which the test runner brings into each page. */
declare const describe: {
  (name: string, body: () => void): void;
  skip(name: string, body: () => void): void;
};
declare const it: (name: string, body: () => Promise<void> | void) => void;
declare const before: (body: () => Promise<void> | void) => void;
declare const afterEach: (body: () => Promise<void> | void) => void;
