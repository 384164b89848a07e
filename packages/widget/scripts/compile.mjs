/** Compiles the sources by TypeScript, without the white space in their templates and styles. */
import path from "node:path";
import { transform } from "lightningcss";
import ts from "typescript";

/** Stands for an expression in a template. */
const gap = "\0";

/**
 * Removes line breaks with the white space around them. A minifier of scripts must keep them, since it can't know that a
 * text is HTML. Only attributes and words stay apart.
 */
function flatHtml(text) {
  return text.replace(/\s*\n\s*/g, (space, at) => {
    const [before, after] = [text.slice(0, at), text.slice(at + space.length)];
    const isInTag = before.lastIndexOf("<") > before.lastIndexOf(">");
    return after[0] !== ">" && (isInTag || (/[^>\0]$/.test(before) && /^[^<\0]/.test(after))) ? " " : "";
  });
}

/** Styles contain other styles only between rules, so each part is minified alone. */
function flatCss(text) {
  const minified = (part) => transform({ filename: "", code: Buffer.from(part), minify: true }).code.toString();
  return text.split(gap).map(minified).join(gap);
}

/**
 * Makes a transformer for TypeScript that rewrites every template with a tag.
 * @param {Record<string, (text: string) => string>} rewriters by tag; `\0` in the text stands for an expression
 */
export const rewriteTemplates = (rewriters) => (context) => (file) => {
  const { factory } = context;
  const visit = (node) => {
    const rewrite = ts.isTaggedTemplateExpression(node) && rewriters[node.tag.text];
    if (!rewrite) return ts.visitEachChild(node, visit, context);
    const { template } = node;
    const { head = template, templateSpans = [] } = template;
    const [first, ...others] = rewrite(
      [head, ...templateSpans.map(({ literal }) => literal)].map(({ text }) => text).join(gap),
    ).split(gap);
    const spans = templateSpans.map(({ expression }, index) =>
      factory.createTemplateSpan(
        ts.visitNode(expression, visit),
        index < others.length - 1
          ? factory.createTemplateMiddle(others[index])
          : factory.createTemplateTail(others[index]),
      ),
    );
    const replaced = spans.length
      ? factory.createTemplateExpression(factory.createTemplateHead(first), spans)
      : factory.createNoSubstitutionTemplateLiteral(first);
    return factory.updateTaggedTemplateExpression(node, node.tag, undefined, replaced);
  };
  return ts.visitNode(file, visit);
};

/** Compiles the package in this folder into its `dist`. @throws {Error} with the compiler's messages */
export function compile(folder) {
  const host = { ...ts.sys, onUnRecoverableConfigFileDiagnostic: fail };
  const config = ts.getParsedCommandLineOfConfigFile(path.join(folder, "tsconfig.json"), {}, host);
  const { fileNames: rootNames, options, projectReferences, errors } = config;
  const program = ts.createProgram({ rootNames, options, projectReferences, configFileParsingDiagnostics: errors });
  const { diagnostics } = program.emit(undefined, undefined, undefined, false, {
    before: [rewriteTemplates({ html: flatHtml, css: flatCss })],
  });
  fail(...ts.getPreEmitDiagnostics(program), ...diagnostics);
}

function fail(...found) {
  const names = {
    getCanonicalFileName: (name) => name,
    getCurrentDirectory: ts.sys.getCurrentDirectory,
    getNewLine: () => "\n",
  };
  if (found.length > 0) throw new Error(ts.formatDiagnosticsWithColorAndContext(found, names));
}
