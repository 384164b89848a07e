/**
 * Cuts from Lit, in the standalone file only, the code that the widget's templates never use and that no minifier can
 * prove unused: directives, property and element bindings, SVG and MathML roots, comments and bindings in comments, script,
 * style, textarea and title, nodes as values, listeners that are not functions, compiled templates, converters and defaults
 * of properties, lists of styles, decorators' metadata, and hooks for polyfills. The rest is Lit's own code. The Trusted
 * Types policy is renamed, since the page's own Lit may have created one called `lit-html`.
 *
 * Each cut matches a text of the installed release of Lit. If a text is not found, the build fails and names it.
 */
const cuts = {
  "/lit-html/lit-html.js": [
    [/function M\(t,i,s=t,e\)\{.*?,void 0!==h&&\(i=M\(.*?,i\}/, ""],
    ["t=M(this,t,i),", ""],
    ["t=M(this,t,i,0),", ""],
    ["r=M(this,e[s+n],i,n),r===E&&(r=this._$AH[n])", "r=e[s+n]"],
    [/&&t!==E/g, ""],
    [/class Z\{.*?\}\}/, ""],
    [/class I extends H\{.*?\}\}/, ""],
    [/const j=\{.*?\},B=t\.litHtmlPolyfillSupport;.*?;const D=/, "const D="],
    ["j as _$LH,", ""],
    ["i=t=>t,", ""],
    ["i(t).nextSibling;i(t).remove()", "t.nextSibling;t.remove()"],
    ["x=t=>(i,...s)=>({_$litType$:t,strings:i,values:s}),b=x(1),w=x(2),T=x(3)", "b=(i,...s)=>({strings:i,values:s})"],
    [",T as mathml", ""],
    [",w as svg", ""],
    [',l=2===i?"<svg>":3===i?"<math>":""', ',l=""'],
    ['+(2===i?"</svg>":3===i?"</math>":"")', ""],
    ["const N=(t,i)=>", "const N=t=>"],
    [":s+o+(-2===d?i:x)", ":s+o+x"],
    ["let n,l=", "let l="],
    ["c=n??v", "c=v"],
    ["(c=p,n=void 0)", "c=p"],
    ["constructor({strings:t,_$litType$:i},e)", "constructor({strings:t})"],
    ["N(t,i)", "N(t)"],
    ["S.createElement(f,e)", "S.createElement(f)"],
    ["static createElement(t,i)", "static createElement(t)"],
    [/if\((this\.el=.{0,60}?content),2===i\|\|3===i\)\{.*?childNodes\)\}/, "$1;"],
    ['(y.test(u[2])&&(n=RegExp("</"+u[2],"g")),c=p)', "(c=p)"],
    [/if\(y\.test\(r\.tagName\)\)\{.*?\}\}(?=\}else if\(8===)/, ""],
    ["if(r.hasAttributes())", ""],
    ['"."===e[1]?I:', ""],
    ["else t.startsWith(o)&&(d.push({type:6,index:l}),r.removeAttribute(t));", ";"],
    [
      "2===r.type?i=new k(h,h.nextSibling,this,t):1===r.type?i=new r.ctor(h,r.name,r.strings,this,t):6===r.type&&(i=new Z(h,this,t))",
      "i=2===r.type?new k(h,h.nextSibling):new r.ctor(h,r.name,r.strings)",
    ],
    [/"number"==typeof s\?(this\._\$AC\(t\)):\(.*?,s\)(?=;)/, "$1"],
    ["const{values:i,_$litType$:s}=t,", "const{values:i}=t,"],
    ['createPolicy("lit-html"', 'createPolicy("giftcard-pay"'],
    ['if(!u(t)||!t.hasOwnProperty("raw"))throw Error("invalid template strings array");', ""],
    ['"!--"===u[1]?c=_:void 0!==u[1]?c=m:', ""],
    ["c===_||c===m?c=v:", ""],
    [/else\{let t=-1;for\(;-1!==\(t=r\.data\.indexOf.*?length-1\}(?=l\+\+)/, ""],
    ["(t?.creationScope??l).importNode", "l.importNode"],
    ["u(t){const{el", "u(){const{el"],
    ["s=t.u(this.options)", "s=t.u()"],
    ["new R(e,this)", "new R(e)"],
    [
      "constructor(t,i){this._$AV=[],this._$AN=void 0,this._$AD=t,this._$AM=i}",
      "constructor(t){this._$AV=[],this._$AD=t}",
    ],
    [
      "void 0!==t._$litType$?this.$(t):void 0!==t.nodeType?this.T(t):d(t)?this.k(t):this._(t)",
      "u(t)?this.k(t):this.$(t)",
    ],
    ['null===t||"object"!=typeof t&&"function"!=typeof t', "Object(t)!==t"],
    [/Symbol\.for\(".*?"\)/g, "Symbol()"],
    ["T(t){this._$AH!==t&&(this._$AR(),this._$AH=this.O(t))}", "T(t){this._$AR(),this._$AH=this.O(t)}"],
    ["this._$AP?.(!1,!0,s)", ""],
    ["_$AR(t=this._$AA.nextSibling,s)", "_$AR(t=this._$AA.nextSibling)"],
    ["this._$AR(s&&s._$AB.nextSibling,e)", "this._$AR(s&&s._$AB.nextSibling)"],
    ["new k(this.O(c()),this.O(c()),this,this.options)", "new k(this.O(c()),this.O(c()))"],
    [/setConnected\(t\)\{.*?\}(?=\}class H)/, ""],
    [
      "constructor(t,i,s,e){this.type=2,this._$AH=A,this._$AN=void 0,this._$AA=t,this._$AB=i,this._$AM=s,this.options=e,this._$Cv=e?.isConnected??!0}",
      "constructor(t,i){this._$AH=A,this._$AA=t,this._$AB=i}",
    ],
    [
      "constructor(t,i,s,e,h){this.type=1,this._$AH=A,this._$AN=void 0,this.element=t,this.name=i,this._$AM=e,this.options=h,",
      "constructor(t,i,s){this._$AH=A,this.element=t,this.name=i,",
    ],
    [/get (?:_\$AU|startNode|endNode|tagName)\(\)\{.*?\}/g, ""],
    [/get parentNode\(\)\{(?:return this\._\$AM\.parentNode|let t=.*?,t)\}/g, ""],
    ["_$AI(t,i=this){a(t)", "_$AI(t){a(t)"],
    ["_$AI(t,i=this,s,e){const h", "_$AI(t,s){const h"],
    ["o&&!e&&this.j(t)", "o&&this.j(t)"],
    ["void 0!==s.strings?(s._$AI(t,s,i)", "void 0!==s.strings?(s._$AI(t,i)"],
    ["constructor(){super(...arguments),this.type=4}", ""],
    ["constructor(t,i,s,e,h){super(t,i,s,e,h),this.type=5}", ""],
    [
      /_\$AI\(t,i=this\)\{if\(\(t=M\(this,t,i,0\).*?this\._\$AH=t\}/,
      "_$AI(t){this._$AH===A&&this.element.addEventListener(this.name,this),this._$AH=t}",
    ],
    [/"function"==typeof this\._\$AH\?.*?:this\._\$AH\.handleEvent\(t\)/, "this._$AH(t)"],
    [
      /D=\(t,i,s\)=>\{.*?return h\._\$AI\(t\),h\}/,
      "D=(t,i)=>{(i._$litPart$??=new k(i.insertBefore(c(),null),null))._$AI(t)}",
    ],
  ],
  "/@lit/reactive-element/reactive-element.js": [
    [',a=globalThis,c=a.trustedTypes,l=c?c.emptyScript:"",p=a.reactiveElementPolyfillSupport,d=(t,s)=>t', ""],
    [/\bd\(("\w+")\)/g, "$1"],
    // Lit also uses these two names as strings, which the shortening of names does not find.
    [/elementProperties/g, "eP"],
    [/finalized/g, "fD"],
    [/Symbol\.metadata\?\?=.*?new WeakMap;/, ""],
    [/const t=this\[Symbol\.metadata\];if\(null!==t\)\{.*?\}(?=this\._\$Eh=)/, ""],
    [/static addInitializer\(t\)\{.*?push\(t\)\}/, ""],
    [",this.constructor.l?.forEach(t=>t(this))", ""],
    [",void 0!==t.l&&(this.l=[...t.l])", ""],
    [/,u=\{toAttribute\(t,s\)\{.*?return i\}\}/, ""],
    [",f=(t,s)=>!i(t,s)", ""],
    [/,b=\{attribute:.*?hasChanged:f\}/, ""],
    [
      /static createProperty\(.*?return\{get:e,.*?enumerable:!0\}\}/,
      "static createProperty(t,s){this.eP.set(t,s);const i=Symbol();e(this.prototype,t,{get(){return this[i]},set(e){const h=this[i];this[i]=e,this.requestUpdate(t,h,s)}})}",
    ],
    [",s=[...r(t),...o(t)];for(const i of s)", ";for(const i in t)"],
    ["getOwnPropertyDescriptor:h,getOwnPropertyNames:r,getOwnPropertySymbols:o,", ""],
    [/this\.finalizeStyles\(this\.styles\)\}static finalizeStyles\(s\)\{.*?return i\}/, "[t(this.styles)]}"],
    ['"string"==typeof t?t.toLowerCase():void 0', "t.toLowerCase()"],
    ["removeController(t){this._$EO?.delete(t)}", ""],
    [",void 0!==this.renderRoot&&this.isConnected&&t.hostConnected?.()", ""],
    ["(void 0!==i.converter?.toAttribute?i.converter:u).toAttribute(s,i.type)", 'i.type===Boolean?s?"":null:s'],
    ["{this._$AK(t,i)}", "{XX}"],
    [/\{XX\}(_\$ET.*?\}\})_\$AK\(t,s\)(\{.*?this\._\$Em=null\}\})/, "{s=i;$2}$1"],
    [/,h="function"==typeof t\.converter\?.*?\?\?r,/, ";this._$Em=e,this[e]=t.type===Boolean?null!==s:s,"],
    ["static getPropertyOptions(t){return this.eP.get(t)??b}", ""],
    ["t=i.getPropertyOptions(e)", "t=i.eP.get(e)"],
    ["this._$Eh&&[", "["],
    ["this.constructor.shadowRootOptions", '{mode:"open"}'],
    ['y.shadowRootOptions={mode:"open"},', ""],
    [/requestUpdate\(t,s,i,e=!1,h\)\{.*?\)\)return;/, "requestUpdate(t,s,e){if(void 0!==t){if(i(this[t],s))return;"],
    [
      "this.C(t,s,i)}!1===this.isUpdatePending&&(this._$ES=this._$EP())",
      "this.C(t,s,e)}this.isUpdatePending||(this._$ES=this._$EP())",
    ],
    [/\{useDefault:i,reflect:e,wrapped:h\},r\)\{i&&.*?\|\|\((?=this\._\$AL\.has)/, "{reflect:e}){"],
    [/this\._\$AL\.has\(t\)\|\|\(.*?set\(t,s\)\)/, "this._$AL.set(t)"],
    ["(this._$Eq??=new Set).add(t))}", "(this._$Eq??=new Set).add(t)}"],
    [/const t=this\.constructor\.eP;if\(t\.size>0\)for\(.*?,i,e\)\}/, ""],
    [
      /let t=!1;const s=this\._\$AL;try\{.*?t&&this\._\$AE\(s\)\}willUpdate\(t\)\{\}_\$AE\(t\)\{.*?,this\.updated\(t\)\}/,
      "const s=this._$AL;try{this.willUpdate(s),this.update(s)}catch(t){throw this._$EM(),t}this.hasUpdated=!0,this.updated(s)}",
    ],
    ["return this.getUpdateComplete()}getUpdateComplete(){", ""],
    ["shouldUpdate(t){return!0}", ""],
    ["firstUpdated(t){}", ""],
    ["const t=this.scheduleUpdate();return null!=t&&await t,", "await this.scheduleUpdate();return "],
    [/,p\?\.\(\{ReactiveElement:y\}\),.*?push\("[\d.]+"\)/, ""],
    [/y as ReactiveElement,.*?f as notEqual/, "y as ReactiveElement,s as adoptStyles,t as getCompatibleStyle"],
  ],
  "/lit-element/lit-element.js": [
    ["render as e,noChange as r", "render as e"],
    [/constructor\(\)\{.*?firstChild,t\}/, ""],
    ["this.hasUpdated||(this.renderOptions.isConnected=this.isConnected),", ""],
    ["this._$Do=e(r,this.renderRoot,this.renderOptions)", "e(r,this.renderRoot)"],
    [/connectedCallback\(\)\{.*?setConnected\(!1\)\}/, ""],
    ["render(){return r}", ""],
    ["i._$litElement$=!0,", ""],
    ["finalized", "fD"],
    [/const s=globalThis;/, ""],
    [/,s\.litElementHydrateSupport.*$/ms, ";export{i as LitElement};"],
  ],
};

export const leanLit = {
  name: "lean-lit",
  transform(code, id) {
    const file = Object.keys(cuts).find((name) => id.endsWith(name));
    if (!file) return undefined;
    return cuts[file].reduce((before, [part, replacement]) => {
      const after = before.replace(part, replacement);
      if (after === before)
        throw new Error(`Lit has changed: ${file} does not contain ${part}. Adapt standalone/lean-lit.js.`);
      return after;
    }, code);
  },
};
