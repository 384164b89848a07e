import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import https from "node:https";
import type { AddressInfo } from "node:net";
import os from "node:os";
import path from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import packageJson from "../package.json" with { type: "json" };
import { clientOf, failureOf, foreignService, secrets } from "./support/foreign-service.js";

const card = { cardNumber: secrets.cardNumber, pin: secrets.pin };
const devalue = (url: string, options = {}) =>
  failureOf(clientOf({ url }, options).devalue({ ...card, amountCents: 100 as never }));

describe("a failed connection has a reason:", () => {
  it("refused", async () => {
    const error = await devalue("http://127.0.0.1:3");
    expect(error).toMatchObject({ code: "not_connected", reason: "refused" });
    expect(String(error)).toContain("nothing listens at its address");
  });

  it("name_not_found", async () => {
    const error = await devalue("https://nobody.invalid");
    expect(error).toMatchObject({ code: "not_connected", reason: "name_not_found" });
    expect(String(error)).not.toContain("nobody");
  });

  it("also with a fetch of the caller's, which doesn't prove that nothing was sent", async () => {
    const error = await devalue("http://127.0.0.1:3", { fetch });
    expect(error).toMatchObject({ code: "connection_lost", reason: "refused" });
  });

  it("none if the connection was made and then lost", async () => {
    const service = await foreignService(() => (response) => response.destroy());
    expect(await devalue(service.url)).toMatchObject({ code: "connection_lost", reason: undefined });
  });

  it.skipIf(!hasOpenssl())("certificate, without sending anything", async () => {
    const service = await selfSigned();
    const error = await devalue(service.url);
    expect(error).toMatchObject({ code: "not_connected", reason: "certificate" });
    expect(String(error)).toContain("NODE_EXTRA_CA_CERTS");
    expect(service.received()).toBe(0);
  });
});

it("sends the client's version as User-Agent", async () => {
  const service = await foreignService(() => ({ json: [] }));
  await clientOf(service).listProviders();
  expect(service.received[0]?.headers["user-agent"]).toBe(`giftcard-pay-client/${packageJson.version}`);
});

/** Whether `openssl` is installed, which makes the certificate. */
function hasOpenssl(): boolean {
  try {
    return execFileSync("openssl", ["version"], { stdio: "pipe" }).length > 0;
  } catch {
    return false;
  }
}

/** Starts a service on this machine with a self-signed certificate. */
async function selfSigned() {
  const folder = mkdtempSync(path.join(os.tmpdir(), "giftcard-client-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const args = "req -x509 -nodes -days 2 -newkey rsa:2048 -keyout key -out crt -subj /CN=localhost";
  execFileSync("openssl", args.split(" "), { cwd: folder, stdio: "pipe" });
  let received = 0;
  const server = https.createServer(
    { key: readFileSync(path.join(folder, "key")), cert: readFileSync(path.join(folder, "crt")) },
    (_, response) => {
      received += 1;
      response.end();
    },
  );
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `https://127.0.0.1:${(server.address() as AddressInfo).port}`, received: () => received };
}
