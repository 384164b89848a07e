/** The program as a command: its stage in the environment, what it saw on its output. */
import { tryAll } from "./program.mjs";

console.log(JSON.stringify(await tryAll(JSON.parse(String(process.env.STAGE)))));
