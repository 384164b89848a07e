/** Runs the program as a worker. It is called over HTTP, since it has no command line. */
import { tryAll } from "./program.mjs";

export default {
  /** @param {Request} request */
  async fetch(request) {
    try {
      return Response.json(await tryAll(await request.json()));
    } catch (error) {
      return new Response(error instanceof Error ? error.stack : String(error), { status: 500 });
    }
  },
};
