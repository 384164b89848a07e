import { cp, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { runWith } from "./support/command-line.js";

const ours = path.resolve(import.meta.dirname, "../../../examples/nextjs/src/modules/gift-cards");
const added = "src/modules/gift-cards";
/** The storefront's own heading and button components. */
const ui = "src/modules/common/components/ui";

/** The lines that the command changes in each storefront file, before and after. */
const lines = {
  "src/modules/checkout/templates/checkout-form/index.tsx": [
    'import Payment from "@modules/checkout/components/payment"\nimport Review from "@modules/checkout/components/review"',
    'import Payment from "@modules/gift-cards/payment"\nimport Review from "@modules/gift-cards/review"',
  ],
  "src/modules/checkout/templates/checkout-summary/index.tsx": [
    'import CartTotals from "@modules/common/components/cart-totals"',
    'import CartTotals from "@modules/gift-cards/cart-totals"',
  ],
  "src/modules/order/templates/order-completed-template.tsx": [
    'import PaymentDetails from "@modules/order/components/payment-details"',
    'import PaymentDetails from "@modules/gift-cards/order-payments"',
  ],
  "src/app/[countryCode]/(main)/account/@dashboard/orders/details/[id]/page.tsx": [
    'import OrderDetailsTemplate from "@modules/order/templates/order-details-template"',
    'import OrderDetailsTemplate from "@modules/gift-cards/order-details"',
  ],
  "src/modules/order/templates/order-details-template.tsx": [
    'import OrderSummary from "@modules/order/components/order-summary"',
    'import OrderSummary from "@modules/gift-cards/order-summary"',
  ],
  "src/modules/checkout/components/payment-button/index.tsx": [
    'import { placeOrder } from "@lib/data/cart"',
    'import { placeOrder } from "@modules/gift-cards/place-order"',
  ],
} as const;

let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(path.join(os.tmpdir(), "giftcard-storefront-"));
  await writeFile(path.join(folder, "package.json"), "{}");
  await mkdir(path.join(folder, ui), { recursive: true });
  for (const [file, [before]] of Object.entries(lines)) {
    await mkdir(path.dirname(path.join(folder, file)), { recursive: true });
    await writeFile(path.join(folder, file), around(before));
  }
});

afterEach(() => rm(folder, { recursive: true, force: true }));

describe("giftcard-medusa storefront", () => {
  it("adds the files, and changes seven lines in six storefront files", async () => {
    const { exitCode, stdout } = await runWith({}, "storefront", folder);
    expect(exitCode).toBe(0);
    expect(stdout).toContain("npm install @giftcard-pay/widget @lit/react");
    expect(await textsIn(path.join(folder, added))).toEqual(await textsIn(ours));
    for (const [file, [, after]] of Object.entries(lines)) expect(await read(file)).toBe(around(after));
  });

  it("imports headings and buttons from Medusa's package if the storefront has none", { tags: "long" }, async () => {
    await rm(path.join(folder, ui), { recursive: true });
    await runWith({}, "storefront", folder);
    const text = await read(`${added}/gift-cards.tsx`);
    expect(text).toContain('import { Button, clx, Heading } from "@medusajs/ui"');
    expect(text).not.toContain("@modules/common/components/ui");
    const { stdout } = await runWith({}, "storefront", folder, "--json");
    expect(JSON.parse(stdout).steps).toContainEqual({ file: `${added}/gift-cards.tsx`, done: "already" });
  });

  it("changes nothing on a second run", { tags: "long" }, async () => {
    await runWith({}, "storefront", folder);
    const { exitCode, stdout } = await runWith({}, "storefront", folder, "--json");
    expect(exitCode).toBe(0);
    const { steps } = JSON.parse(stdout);
    expect(steps).toHaveLength(7 + (await readdir(ours)).length);
    expect(new Set(steps.map(({ done }: { done: string }) => done))).toEqual(new Set(["already"]));
  });

  it("lists only the packages that are missing", { tags: "long" }, async () => {
    const manifest = path.join(folder, "package.json");
    await writeFile(manifest, JSON.stringify({ dependencies: { "@lit/react": "^1.0.0" } }));
    const first = await runWith({}, "storefront", folder, "--json");
    expect(JSON.parse(first.stdout).install).toBe("npm install @giftcard-pay/widget");
    const both = { "@giftcard-pay/widget": "^0.1.0", "@lit/react": "^1.0.0" };
    await writeFile(manifest, JSON.stringify({ dependencies: both }));
    expect((await runWith({}, "storefront", folder)).stdout).not.toContain("Then,");
    expect(JSON.parse((await runWith({}, "storefront", folder, "--json")).stdout).install).toBeUndefined();
  });

  it("skips a file with unexpected text, says what belongs there, and changes the others", {
    tags: "long",
  }, async () => {
    const [file, , other] = Object.keys(lines) as (keyof typeof lines)[];
    const changed = 'import { Payment } from "@modules/checkout/our-own-payment"\n';
    await writeFile(path.join(folder, file as string), changed);
    const { exitCode, stdout } = await runWith({}, "storefront", folder);
    expect(exitCode).toBe(1);
    expect(stdout).toContain(`BY HAND        ${file}`);
    for (const line of lines[file as keyof typeof lines].flatMap((text) => text.split("\n")))
      expect(stdout).toContain(line);
    expect(await read(file as string)).toBe(changed);
    expect(await read(other as string)).toBe(around(lines[other as keyof typeof lines][1]));
  });

  it("never overwrites an added file that was changed", { tags: "long" }, async () => {
    await cp(ours, path.join(folder, added), { recursive: true });
    await writeFile(path.join(folder, added, "payment.tsx"), "// our own\n");
    const { exitCode, stdout } = await runWith({}, "storefront", folder);
    expect(exitCode).toBe(1);
    expect(stdout).toContain(`LEFT AS IT IS  ${added}/payment.tsx`);
    expect(await read(`${added}/payment.tsx`)).toBe("// our own\n");
  });

  it.each([
    ["pnpm-lock.yaml", "pnpm add"],
    ["yarn.lock", "yarn add"],
  ])("lists the packages by the command that the workspace's %s implies", { tags: "long" }, async (lockfile, words) => {
    const workspace = path.join(folder, "apps/storefront");
    await mkdir(path.join(workspace, "src/modules/checkout"), { recursive: true });
    await writeFile(path.join(workspace, "package.json"), "{}");
    await writeFile(path.join(folder, lockfile), "");
    const { stdout } = await runWith({}, "storefront", workspace, "--json");
    expect(JSON.parse(stdout).install).toBe(`${words} @giftcard-pay/widget @lit/react`);
  });

  it("rejects a folder that is no storefront, and writes nothing", async () => {
    const empty = path.join(folder, "src");
    const { exitCode, stdout } = await runWith({}, "storefront", empty);
    expect(exitCode).toBe(2);
    expect(stdout).toContain("isn't Medusa's Next.js storefront");
    expect(await readdir(empty)).not.toContain("package.json");
  });
});

const around = (line: string) => `import { a } from "a"\n${line}\n\nexport const b = a\n`;
const read = (file: string) => readFile(path.join(folder, file), "utf8");

async function textsIn(directory: string): Promise<Record<string, string>> {
  const names = await readdir(directory);
  const texts = names.map(async (name) => [name, await readFile(path.join(directory, name), "utf8")] as const);
  return Object.fromEntries(await Promise.all(texts));
}
