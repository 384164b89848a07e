import { setTimeout as sleep } from "node:timers/promises";
import { Command } from "commander";
import { exitCodes, OperatorError } from "../operator-error.js";
import { isRunning } from "../postgres/processes.js";
import { outputOf, wholeNumber } from "./output.js";
import { type AddressOptions, addAddressOptions } from "./serve.js";

interface HealthOptions extends AddressOptions {
  readonly ready: boolean;
  readonly wait: number;
  readonly pid?: number;
  readonly json: boolean;
}

const ANSWER_TIMEOUT_MS = 5000;
const ASK_AGAIN_MS = 200;

export const healthCommand = (): Command =>
  addAddressOptions(new Command("health"))
    .description("Check whether the service on this machine is alive, or with --ready whether it can take calls")
    .option("--ready", "check whether it can take calls, not only whether it is alive", false)
    .option("--wait <seconds>", "retry for this time", wholeNumber(0, 3600), 0)
    .option("--pid <process>", "stop waiting if this process ends", wholeNumber(1, 2 ** 31))
    .option("--json", "print the answer as one JSON value", false)
    .addHelpText("after", `\nExits with ${exitCodes.failed} if it is not.`)
    .action(async ({ ready, wait, pid, json, ...address }: HealthOptions) => {
      const out = outputOf(json);
      const url = `${urlOf(address)}/${ready ? "readyz" : "healthz"}`;
      const startedAtMs = performance.now();
      for (;;) {
        const { isWell, status, answer } = await ask(url);
        if (isWell) return out.result(answer, status);
        const waitedSeconds = Math.floor((performance.now() - startedAtMs) / 1000);
        if (waitedSeconds >= wait || (pid !== undefined && !isRunning(pid)))
          throw new OperatorError(
            `${url} says: ${status}.${answer === undefined ? " Does it run on this --port?" : ""}`,
            exitCodes.failed,
            { status },
          );
        out.progress(`seconds waited (${status})`)(waitedSeconds, wait);
        await sleep(ASK_AGAIN_MS);
      }
    });

/** Returns the service's URL. A service that listens on all addresses is asked at the loopback address. */
function urlOf({ host, port }: AddressOptions): string {
  const own = host === "0.0.0.0" ? "127.0.0.1" : host === "::" ? "::1" : host;
  return `http://${own.includes(":") ? `[${own}]` : own}:${port}`;
}

async function ask(url: string): Promise<{ isWell: boolean; status: string; answer?: unknown }> {
  try {
    const response = await fetch(url, { signal: AbortSignal.timeout(ANSWER_TIMEOUT_MS) });
    const answer = (await response.json()) as { status: string };
    return { isWell: response.ok, status: answer.status, answer };
  } catch {
    return { isWell: false, status: "no answer from the service" };
  }
}
