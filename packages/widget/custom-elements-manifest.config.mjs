/** Generates the custom elements manifest from the sources, and from it the data for VS Code. */
import { customElementVsCodePlugin } from "custom-element-vs-code-integration";

/** Removes everything that is not public, and replaces source paths by those to import from. */
const publicOnly = {
  name: "public-only",
  packageLinkPhase({ customElementsManifest: manifest }) {
    manifest.modules = manifest.modules
      .filter(({ declarations }) => declarations.some(({ tagName }) => tagName))
      .map((module) => ({
        ...module,
        path: module.path.replace(/^src\/(.*)\.ts$/, "dist/$1.js"),
        declarations: module.declarations.filter(({ tagName }) => tagName).map(publicParts),
      }));
  },
};

function publicParts(element) {
  const isHidden = ({ privacy, name }) => privacy === "private" || privacy === "protected" || name.startsWith("#");
  const hidden = new Set(element.members.filter(isHidden).map(({ name }) => name));
  const plain = ({ inheritedFrom: _, ...rest }) => rest;
  return {
    ...plain(element),
    superclass: { name: "LitElement", package: "lit" },
    members: element.members.filter((member) => !isHidden(member)).map(plain),
    attributes: element.attributes.filter(({ fieldName }) => !hidden.has(fieldName)).map(plain),
  };
}

export default {
  globs: ["src/*.ts"],
  outdir: "dist",
  litelement: true,
  packagejson: false,
  quiet: true,
  plugins: [publicOnly, customElementVsCodePlugin({ outdir: "dist", hideLogs: true })],
};
