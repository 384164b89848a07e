import { type ChildProcess, spawn } from "node:child_process";
import { accessSync } from "node:fs";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { freePort } from "../../../scripts/process.mjs";
import { serveGallery } from "../gallery/serve.mjs";

/** The driver of WebKitGTK and GTK's virtual display, from Debian's webkit2gtk-driver and libgtk-3-bin. */
const programs = ["WebKitWebDriver", "broadwayd"].map((name) =>
  (process.env.PATH ?? "").split(path.delimiter).find((folder) => exists(path.join(folder, name))),
);
const hasWebKit = programs.every(Boolean);
if (!hasWebKit) console.log("WebKitWebDriver or broadwayd is not installed, so WebKit's tests are skipped.");

function exists(file: string): boolean {
  try {
    accessSync(file);
    return true;
  } catch {
    return false;
  }
}

const started: ChildProcess[] = [];
let gallery: Awaited<ReturnType<typeof serveGallery>>;
let driver = "";
let session = "";

function start(name: string, args: string[], env: Record<string, string> = {}): void {
  started.push(spawn(name, args, { stdio: "ignore", env: { ...process.env, ...env } }));
}

/** Calls WebDriver at a path below the session. */
async function call<Value>(method: string, path: string, body?: object): Promise<Value> {
  const response = await fetch(`${driver}/session${session}${path}`, {
    method,
    ...(method === "POST" && { body: JSON.stringify(body ?? {}) }),
  });
  const { value } = (await response.json()) as { value: Value & { error?: string; message?: string } };
  if (!response.ok) throw new Error(`${path}: ${value.error} ${value.message}`);
  return value;
}

/** Runs a script in the page, with the tag as `tag` and its shadow root as `root`. */
const run = <Value>(script: string): Promise<Value> =>
  call("POST", "/execute/sync", {
    script: `const tag = document.querySelector("#live giftcard-pay"); const root = tag?.shadowRoot; ${script}`,
    args: [],
  });

async function element(selector: string): Promise<string> {
  const found = await run<Record<string, string>>(`return root.querySelector(${JSON.stringify(selector)})`);
  return `/element/${Object.values(found)[0]}`;
}

const type = async (selector: string, text: string) => call("POST", `${await element(selector)}/value`, { text });
/** Presses a button by the keyboard, since a click needs a window in the foreground. */
const press = (selector: string) => type(selector, "\uE007");
const text = () => run<string>(`return (root?.querySelector(".base")?.innerText ?? "").replace(/\\s+/g, " ")`);
const waitFor = (part: string) => expect.poll(text).toContain(part);

async function open(): Promise<void> {
  driver = `http://127.0.0.1:${await freePort()}`;
  const display = `:${(await freePort()) % 1000}`;
  start("broadwayd", ["--port", String(await freePort()), display]);
  start("WebKitWebDriver", [`--port=${new URL(driver).port}`], {
    GDK_BACKEND: "broadway",
    BROADWAY_DISPLAY: display,
  });
  await expect
    .poll(() =>
      fetch(`${driver}/status`).then(
        ({ ok }) => ok,
        () => false,
      ),
    )
    .toBe(true);
  const { sessionId } = await call<{ sessionId: string }>("POST", "", { capabilities: {} });
  session = `/${sessionId}`;
}

describe.skipIf(!hasWebKit)("in WebKit", () => {
  beforeAll(async () => {
    gallery = await serveGallery();
  });

  afterAll(async () => {
    if (session) await call("DELETE", "").catch(() => undefined);
    for (const child of started) child.kill("SIGKILL");
    await gallery?.close();
  });

  it("checks, applies and removes a card, masks the PIN, and reloads the cart after Back", async () => {
    await open();
    await call("POST", "/url", { url: `${gallery.url}?lang=en&only=none` });
    await waitFor("Check balance");
    await type("#number", "6064359");
    // Delete backwards with the caret just after the gap.
    await run("root.querySelector('#number').setSelectionRange(5, 5)");
    await type("#number", "\uE003");
    expect(await run('return root.querySelector("#number").value')).toBe("6063 59");
    expect(await run('return root.querySelector("#number").selectionStart')).toBe(3);
    await type("#number", "\uE010\uE003\uE003\uE003435");
    await type("#number", "0000000001234\uE007");
    expect(await run('return root.querySelector("#number").value')).toBe("6064 3500 0000 0001 234");
    expect(await run("return root.activeElement.id")).toBe("pin");
    await type("#pin", "012345");
    expect(await run('return getComputedStyle(root.querySelector("#pin")).webkitTextSecurity')).toBe("disc");
    await type("#pin", "\uE007");
    await waitFor("Apply €50.00");
    await press("#apply");
    await waitFor("−€50.00");
    expect(await run('return tag.matches(":state(applied)")')).toBe(true);
    await press("[data-remove]");
    await waitFor("Check balance");
    await type("#number", "6064350000000001234");
    await type("#pin", "012345\uE007");
    await waitFor("Apply €50.00");
    await press("#apply");
    await waitFor("−€50.00");
    // The card is removed while the shopper is on another page.
    await run('return fetch("/shop/carts/" + tag.cart, { method: "POST", body: \'{"applied":[]}\' }).then(String)');
    await call("POST", "/url", { url: `${gallery.url}themes.css` });
    await call("POST", "/back");
    await waitFor("Check balance");
    expect(await text()).not.toContain("−€50.00");
  }, 120_000);
});
