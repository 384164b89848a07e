/**
 * Takes out of Lit, in the standalone file only, what no template here uses and no minifier can prove unused:
 * directives, property and element bindings, SVG and MathML roots, comments and bindings in them, in script, style,
 * textarea and title, nodes as values, listeners that aren't functions, compiled templates, converters and defaults of
 * properties, lists of styles, decorators' metadata, and hooks for polyfills. Everything else is Lit's own code.
 * Its policy for trusted types has a name of its own, since a page's Lit may have taken Lit's.
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
    ['createPolicy("lit-html"', 'createPolicy("giftcard-pay"'],
    ['if(!u(t)||!t.hasOwnProperty("raw"))throw Error("invalid template strings array");', ""],
    ['"!--"===u[1]?c=_:void 0!==u[1]?c=m:', ""],
    ["c===_||c===m?c=v:", ""],
    [/else\{let t=-1;for\(;-1!==\(t=r\.data\.indexOf.*?length-1\}(?=l\+\+)/, ""],
    ["(t?.creationScope??l).importNode", "l.importNode"],
    ["void 0!==t.nodeType?this.T(t):d(t)?", "u(t)?"],
    ["this._$AP?.(!1,!0,s)", ""],
    [/setConnected\(t\)\{.*?\}(?=\}class H)/, ""],
    [",this._$Cv=e?.isConnected??!0", ""],
    [/get (?:_\$AU|startNode|endNode|tagName)\(\)\{.*?\}/g, ""],
    [/get parentNode\(\)\{(?:return this\._\$AM\.parentNode|let t=.*?return t)\}/g, ""],
    [/this\._\$AN=void 0,/g, ""],
    [
      /_\$AI\(t,i=this\)\{if\(\(t=M\(this,t,i,0\).*?this\._\$AH=t\}/,
      "_$AI(t){this._$AH===A&&this.element.addEventListener(this.name,this),this._$AH=t}",
    ],
    ['"function"==typeof this._$AH?', ""],
    [":this._$AH.handleEvent(t)", ""],
  ],
  "/@lit/reactive-element/reactive-element.js": [
    [/Symbol\.metadata\?\?=.*?new WeakMap;/, ""],
    [/const t=this\[Symbol\.metadata\];if\(null!==t\)\{.*?\}(?=this\._\$Eh=)/, ""],
    [/static addInitializer\(t\)\{.*?push\(t\)\}/, ""],
    [",this.constructor.l?.forEach(t=>t(this))", ""],
    [",void 0!==t.l&&(this.l=[...t.l])", ""],
    [/,p=a\.reactiveElementPolyfillSupport/, ""],
    [/u=\{toAttribute\(t,s\)\{.*?return i\}\}/, "u=0"],
    [/b=\{attribute:.*?hasChanged:f\}/, "b={}"],
    ["this.prototype.hasOwnProperty(t)&&((s=Object.create(s)).wrapped=!0),", ""],
    [
      /const\{get:e,set:r\}=h\(.*?;return\{get:e,set\(s\)\{.*?,i\)\}/,
      "return{get(){return this[s]},set(e){const h=this[s];this[s]=e,this.requestUpdate(t,h,i)}",
    ],
    [",s=[...r(t),...o(t)];for(const i of s)", ";for(const i in t)"],
    ["getOwnPropertyDescriptor:h,getOwnPropertyNames:r,getOwnPropertySymbols:o,", ""],
    [/if\(Array\.isArray\(s\)\)\{.*?\}else void 0!==s&&/, ""],
    ["removeController(t){this._$EO?.delete(t)}", ""],
    [
      "(void 0!==i.converter?.toAttribute?i.converter:u).toAttribute(s,i.type)",
      'i.type===Boolean?s?"":null:s',
    ],
    [/,h="function"==typeof t\.converter\?.*?\?\?r,/, ";this._$Em=e,this[e]=t.type===Boolean?null!==s:s,"],
    [/!\(\(i\.hasChanged\?\?f\)\(h,s\)\|\|.*?\)\)\)(?=\)return)/, "!f(h,s)"],
    [/\{useDefault:i,reflect:e,wrapped:h\},r\)\{i&&.*?\|\|\((?=this\._\$AL\.has)/, "{reflect:e}){"],
    ["this.hasUpdated||i||(s=void 0)", "this.hasUpdated||(s=void 0)"],
    ["(this._$Eq??=new Set).add(t))}", "(this._$Eq??=new Set).add(t)}"],
    [/const t=this\.constructor\.elementProperties;if\(t\.size>0\)for\(.*?,i,e\)\}/, ""],
    [/,p\?\.\(\{ReactiveElement:y\}\),.*?push\("[\d.]+"\)/, ""],
  ],
  "/lit-element/lit-element.js": [
    ["this.hasUpdated||(this.renderOptions.isConnected=this.isConnected),", ""],
    [",this._$Do=void 0", ""],
    ["this._$Do=e(", "e("],
    [/connectedCallback\(\)\{.*?setConnected\(!1\)\}/, ""],
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
