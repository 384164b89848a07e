/** Makes the manifest from the sources, and from it what editors read. */
import { customElementVsCodePlugin } from "custom-element-vs-code-integration";

/** Leaves what is public, and says where to import it from. */
const publicOnly = {
  name: "public-only",
  packageLinkPhase({ customElementsManifest: manifest }) {
    manifest.modules = manifest.modules
      .filter(({ declarations }) => declarations.some((one) => one.tagName))
      .map((module) => ({
        ...module,
        path: module.path.replace(/^src\/(.*)\.ts$/, "dist/$1.js"),
        declarations: module.declarations.filter((one) => one.tagName).map(publicParts),
      }));
  },
};

function publicParts(element) {
  const isHidden = ({ privacy, name }) =>
    privacy === "private" || privacy === "protected" || name.startsWith("#");
  const hidden = new Set(element.members.filter(isHidden).map(({ name }) => name));
  const plain = ({ inheritedFrom: _, ...rest }) => rest;
  return {
    ...plain(element),
    superclass: { name: "LitElement", package: "lit" },
    members: element.members.filter((one) => !isHidden(one)).map(plain),
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
