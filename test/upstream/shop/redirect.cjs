/** Loads the patched copies in place of Medusa's packages. TEST_PATCHED is a JSON object: package folder to copy. */
const Module = require("node:module");
const path = require("node:path");

const copies = Object.entries(JSON.parse(process.env.TEST_PATCHED ?? "{}"));
const resolve = Module._resolveFilename;

Module._resolveFilename = function (...args) {
  const file = resolve.apply(this, args);
  const found = copies.find(([folder]) => typeof file === "string" && file.startsWith(folder + path.sep));
  return found ? found[1] + file.slice(found[0].length) : file;
};
