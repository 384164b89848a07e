/** The style sheet of the page that shows the interface. */
export const docsStyle = `:root {
  color-scheme: light dark;
  --line: light-dark(#d9dde3, #3a3f47);
  --soft: light-dark(#f5f6f8, #23272e);
  --quiet: light-dark(#5b6470, #a3acb8);
  --accent: light-dark(#0b5cad, #7ab8f5);
}
* { box-sizing: border-box; }
body {
  margin: 0 auto;
  max-width: 60rem;
  padding: 2rem 1.25rem 4rem;
  background: light-dark(#fff, #1a1d22);
  color: light-dark(#1b1f24, #e6e9ee);
  font: 16px/1.55 system-ui, sans-serif;
}
h1 { font-size: 1.6rem; line-height: 1.25; }
h1 small { color: var(--quiet); font-weight: 400; }
h2 { font-size: 1.2rem; margin: 2.25rem 0 0.75rem; }
h3 { font-size: 0.95rem; margin: 1.25rem 0 0.4rem; }
a { color: var(--accent); }
code, pre { font: 0.875em/1.5 ui-monospace, "SF Mono", Menlo, Consolas, monospace; }
code { overflow-wrap: anywhere; }
pre { margin: 0.5rem 0; padding: 0.75rem 1rem; overflow-x: auto; background: var(--soft); border-radius: 6px; }
.operation { border: 1px solid var(--line); border-radius: 8px; margin: 0.6rem 0; padding: 0 1rem; }
.operation[open] { padding-bottom: 1rem; }
summary { cursor: pointer; margin: 0 -1rem; padding: 0.7rem 1rem; }
summary:focus-visible { outline: 2px solid var(--accent); border-radius: 8px; }
summary code { font-weight: 600; }
summary span { color: var(--quiet); display: block; margin-left: 1.05rem; }
.method { color: var(--accent); font-size: 0.8rem; letter-spacing: 0.03em; }
table { border-collapse: collapse; width: 100%; font-size: 0.925rem; }
td { border-top: 1px solid var(--line); padding: 0.35rem 0.75rem 0.35rem 0; text-align: left; vertical-align: top; }
td:not(:last-child) code { white-space: nowrap; }
td i { color: var(--quiet); font-style: normal; }
`;
