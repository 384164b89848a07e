/** This package's version, as its package.json has it: a bundle for a server can't read that file. */
export const VERSION = "0.1.0";
