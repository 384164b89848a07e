/** Runs the program as a command. Reads its stage from the environment, and prints its results. */
import { tryAll } from "./program.mjs";

console.log(JSON.stringify(await tryAll(JSON.parse(String(process.env.STAGE)))));
