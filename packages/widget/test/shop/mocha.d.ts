/** The two words of mocha, which the test runner brings into each page. */
declare const describe: (name: string, body: () => void) => void;
declare const it: (name: string, body: () => Promise<void> | void) => void;
