import { ReflectionType } from "typedoc";
import { MarkdownTheme, MarkdownThemeContext } from "typedoc-plugin-markdown";

/** @import { Comment, CommentDisplayPart, ParameterReflection, SignatureReflection, SomeType } from "typedoc" */

/** A compact version of the plugin's pages: a signature with its types, its text, and its parameters, result and errors. */
export class CompactTheme extends MarkdownTheme {
  /** @override @param {ConstructorParameters<typeof MarkdownThemeContext>[1]} page */
  getRenderContext(page) {
    const context = new MarkdownThemeContext(this, page, this.application.options);
    const { partials } = context;
    context.partials = {
      ...partials,
      signature: (model, options) => signature(context, model, options),
      accessor: ({ getSignature, setSignature }) =>
        [
          getSignature && signature(context, getSignature, { accessor: "get" }),
          setSignature && signature(context, setSignature, { accessor: "set" }),
        ]
          .filter(Boolean)
          .join("\n\n"),
      inheritance: () => "",
      hierarchy: (model) => {
        const parents = model.types.filter((type) => model.next && !model.isTarget && type);
        return parents.length > 0 ? `Extends ${parents.map((type) => partials.someType(type)).join(", ")}` : "";
      },
    };
    return context;
  }
}

/**
 * @param {MarkdownThemeContext} context
 * @param {SignatureReflection} model
 * @param {{ hideTitle?: boolean, accessor?: string, multipleSignatures?: boolean }} options
 */
function signature(context, model, { hideTitle, accessor, multipleSignatures }) {
  const { partials, helpers } = context;
  const comment = multipleSignatures ? model.comment : (model.comment ?? model.parent?.comment);
  /** @param {readonly CommentDisplayPart[]} parts */
  const text = (parts) =>
    helpers
      .getCommentParts([...parts])
      .replaceAll(/\s+/g, " ")
      .trim();
  const items = documentedParameters(model.parameters ?? []).map(
    ([name, about]) => `- \`${name}\`: ${text(about.summary)}`,
  );
  for (const { tag, typeAnnotation, content } of comment?.blockTags ?? []) {
    if (tag === "@returns") items.push(`- Returns ${text(content)}`);
    if (tag === "@throws")
      items.push(`- Throws ${typeAnnotation ? `\`${typeAnnotation.slice(1, -1)}\` ` : ""}${text(content)}`);
  }
  return [
    hideTitle ? "" : partials.signatureTitle(model, accessor === undefined ? undefined : { accessor }),
    comment ? partials.comment(comment, { showTags: false, showSummary: true }) : "",
    items.join("\n"),
  ]
    .filter(Boolean)
    .join("\n\n");
}

/** @param {readonly ParameterReflection[]} parameters @returns {[string, Comment][]} */
function documentedParameters(parameters) {
  return parameters.flatMap(({ name, comment, type }) => [
    ...(comment ? [/** @type {[string, Comment]} */ ([name, comment])] : []),
    ...documentedMembers(name, type),
  ]);
}

/** Returns the comments of a parameter's members, such as `options.timeoutMs`. @param {string} name @param {SomeType | undefined} type @returns {[string, Comment][]} */
function documentedMembers(name, type) {
  if (type?.type === "intersection") return type.types.flatMap((one) => documentedMembers(name, one));
  if (!(type instanceof ReflectionType)) return [];
  return (type.declaration.children ?? []).flatMap((child) =>
    child.comment ? [/** @type {[string, Comment]} */ ([`${name}.${child.name}`, child.comment])] : [],
  );
}
