import { execFileSync } from "node:child_process";
import { cpSync, mkdirSync, readdirSync, readFileSync, realpathSync, symlinkSync } from "node:fs";
import path from "node:path";

const root = path.resolve(import.meta.dirname, "../..");
const reports = path.join(root, "docs/upstream");
const packageFolder = (name: string) => path.join(root, "node_modules", name);

export interface Patch {
  /** The file's name, without `.patch`. */
  readonly report: string;
  readonly file: string;
  /** The package that it changes, such as `@medusajs/inventory`. */
  readonly package: string;
}

/** Lists the patches. The report next to each names its package: "Package: `@medusajs/inventory` 2.21.2". */
export function listPatches(): Patch[] {
  const names = readdirSync(reports).filter((name) => name.endsWith(".patch"));
  return names.map((name) => {
    const report = path.basename(name, ".patch");
    const text = readFileSync(path.join(reports, `${report}.md`), "utf8");
    const found = /^Package: `(@medusajs\/[\w-]+)`/m.exec(text)?.[1];
    if (!found) throw new Error(`docs/upstream/${report}.md has no line "Package: \`@medusajs/…\`".`);
    return { report, file: path.join(reports, name), package: found };
  });
}

/** Applies a patch in a copy of its package. @throws with the steps to take if the patch doesn't fit */
function apply(patch: Patch, folder: string): void {
  try {
    execFileSync("git", ["apply", "-p1", patch.file], { cwd: folder, stdio: "pipe" });
  } catch (error) {
    const { version } = JSON.parse(readFileSync(path.join(folder, "package.json"), "utf8"));
    throw new Error(
      `docs/upstream/${patch.report}.patch doesn't apply to ${patch.package} ${version}. Read the file in node_modules: ` +
        "if Medusa has fixed the fault, delete the report, its patch and its test, and our work-around if it has no other " +
        "reason. If not, make the same change in a copy of the package, and save `git diff` as the patch.\n" +
        String((error as { stderr?: Buffer }).stderr ?? error),
    );
  }
}

/** Applies one patch to a copy of the files that it changes. @param folder a temporary folder */
export function checkAlone(patch: Patch, folder: string): void {
  const copy = path.join(folder, patch.report);
  for (const [, file = ""] of readFileSync(patch.file, "utf8").matchAll(/^--- a\/(.+)$/gm)) {
    cpSync(path.join(packageFolder(patch.package), file), path.join(copy, file), { recursive: true });
  }
  cpSync(path.join(packageFolder(patch.package), "package.json"), path.join(copy, "package.json"));
  apply(patch, copy);
}

/** Copies the patches' packages into a folder and applies the patches there. @returns package folder to copy */
export function makePatchedCopies(folder: string, patches: readonly Patch[]): Record<string, string> {
  // The copies find their own dependencies here.
  symlinkSync(path.join(root, "node_modules"), path.join(folder, "node_modules"), "junction");
  const copies: Record<string, string> = {};
  for (const patch of patches) {
    const from = realpathSync(packageFolder(patch.package));
    const copy = path.join(folder, path.basename(patch.package));
    if (!copies[from]) {
      mkdirSync(copy);
      cpSync(from, copy, { recursive: true, filter: (file) => !file.endsWith(".d.ts") && !file.endsWith(".map") });
      copies[from] = copy;
    }
    apply(patch, copy);
  }
  return copies;
}
