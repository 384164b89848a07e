// A thread that lists a company's events repeatedly, and reports how many bytes it received.
import { parentPort, workerData } from "node:worker_threads";

const { url, apiKey, listings } = /** @type {{ url: string, apiKey: string, listings: number }} */ (workerData);
let isOver = false;
parentPort?.once("message", () => (isOver = true));

async function listAgainAndAgain() {
  while (!isOver) {
    const answer = await fetch(`${url}/api/endpoint/v1/getallevents`, {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify({ apikey: apiKey }),
    });
    if (!answer.ok || !answer.body) throw new Error(`The service answered a list request with ${answer.status}.`);
    for await (const chunk of answer.body) {
      if (isOver) return;
      parentPort?.postMessage(chunk.length);
    }
  }
}
await Promise.all(Array.from({ length: listings }, listAgainAndAgain));
