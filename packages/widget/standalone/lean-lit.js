/**
 * Takes out of Lit, in the standalone file only, what no template here uses and no minifier can prove unused:
 * directives, property and element bindings, SVG and MathML roots, bindings inside script, style, textarea and title,
 * compiled templates, decorators' metadata, and hooks for polyfills. Everything else is Lit's own code.
 *
 * Keyed by the text of the release that is installed: where a text isn't found, the build says so.
 */
const cuts = {
  "/lit-html/lit-html.js": [
    [/function M\(t,i,s=t,e\)\{.*?,void 0!==h&&\(i=M\(.*?,i\}/, "function M(t,i){return i}"],
    [',l=2===i?"<svg>":3===i?"<math>":""', ',l=""'],
    ['+(2===i?"</svg>":3===i?"</math>":"")', ""],
    [/if\((this\.el=.{0,60}?content),2===i\|\|3===i\)\{.*?childNodes\)\}/, "$1;"],
    ['(y.test(u[2])&&(n=RegExp("</"+u[2],"g")),c=p)', "(c=p)"],
    [/if\(y\.test\(r\.tagName\)\)\{.*?\}\}(?=\}else if\(8===)/, ""],
    ['"."===e[1]?I:', ""],
    ["else t.startsWith(o)&&(d.push({type:6,index:l}),r.removeAttribute(t));", ";"],
    [":6===r.type&&(i=new Z(h,this,t))", ":0"],
    [/"number"==typeof s\?(this\._\$AC\(t\)):\(.*?,s\)(?=;)/, "$1"],
    [/,B=t\.litHtmlPolyfillSupport;.*?;const D=/, ",D="],
  ],
  "/@lit/reactive-element/reactive-element.js": [
    [/Symbol\.metadata\?\?=.*?new WeakMap;/, ""],
    [/const t=this\[Symbol\.metadata\];if\(null!==t\)\{.*?\}(?=this\._\$Eh=)/, ""],
    [/static addInitializer\(t\)\{.*?push\(t\)\}/, ""],
    [",this.constructor.l?.forEach(t=>t(this))", ""],
    [",void 0!==t.l&&(this.l=[...t.l])", ""],
    [/,p=a\.reactiveElementPolyfillSupport/, ""],
    [/,p\?\.\(\{ReactiveElement:y\}\),.*?push\("[\d.]+"\)/, ""],
  ],
  "/lit-element/lit-element.js": [
    [/,s\.litElementHydrateSupport.*?o\?\.\(\{LitElement:i\}\);/, ";"],
    [/\(s\.litElementVersions\?\?=\[\]\)\.push\("[\d.]+"\);/, ""],
  ],
};

export const leanLit = {
  name: "lean-lit",
  transform(code, id) {
    const file = Object.keys(cuts).find((name) => id.endsWith(name));
    if (!file) return undefined;
    return cuts[file].reduce((rest, [part, instead]) => {
      const cut = rest.replace(part, instead);
      if (cut === rest)
        throw new Error(`Lit has changed: ${file} holds no ${part}. See standalone/lean-lit.js.`);
      return cut;
    }, code);
  },
};
