/**
 * The style sheet of all pages. The reader chooses light or dark colours. States have a mark and a word beside their
 * colour.
 *
 * @module
 */

/** The text of the style sheet. */
export const STYLE = `:root{color-scheme:light dark;--bg:#fff;--fg:#1b1f24;--dim:#59636e;--line:#d5dae0;--panel:#f5f7f9;
--link:#0a58b5;--good:#17713a;--warn:#8a5a00;--bad:#b3261e;--mark:#fff3c4;--accent:#2f6fde}
@media(prefers-color-scheme:dark){:root{--bg:#14171b;--fg:#e4e7eb;--dim:#9aa4af;--line:#333a42;--panel:#1c2127;
--link:#7db4ff;--good:#5fce8a;--warn:#e5b455;--bad:#ff8a80;--mark:#4a3d12;--accent:#5b93f5}}
*{box-sizing:border-box}
body{margin:0;background:var(--bg);color:var(--fg);font:15px/1.45 system-ui,sans-serif}
a{color:var(--link);text-decoration:none}a:hover{text-decoration:underline}
:focus-visible{outline:2px solid var(--accent);outline-offset:2px}
.skip{position:absolute;left:-99em}.skip:focus{left:1em;top:.5em;background:var(--bg);padding:.3em .6em;z-index:1}
header{display:flex;flex-wrap:wrap;gap:.4em 1.2em;align-items:center;padding:.6em 1.2em;border-bottom:1px solid var(--line);
background:var(--panel)}
header nav{display:flex;flex-wrap:wrap;gap:.2em 1em;flex:1}
header nav a[aria-current]{font-weight:600;color:var(--fg);border-bottom:2px solid var(--accent)}
main{padding:1em 1.2em;max-width:110em}
footer{padding:1em 1.2em;color:var(--dim);border-top:1px solid var(--line)}
h1{font-size:1.35em;margin:.2em 0 .6em;overflow-wrap:anywhere}h2{font-size:1.08em;margin:1.4em 0 .4em}
h3{font-size:1em;margin:1em 0 .3em}
table{border-collapse:collapse;width:100%}
th,td{text-align:left;vertical-align:top;padding:.28em .8em .28em 0;border-bottom:1px solid var(--line);overflow-wrap:anywhere}
th{font-weight:600;color:var(--dim);white-space:nowrap}td.number,th.number{text-align:right;white-space:nowrap}
tr:target{background:var(--mark)}
code,pre,.mono{font-family:ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;font-size:.92em}
pre{background:var(--panel);border:1px solid var(--line);padding:.6em .8em;overflow:auto;max-height:70vh;margin:.3em 0}
footer code{overflow-wrap:anywhere;user-select:all}
input,select,textarea,button{font:inherit;color:inherit;background:var(--bg);border:1px solid var(--line);border-radius:4px;
padding:.2em .5em}
button{background:var(--panel);cursor:pointer}
form.filter{display:flex;flex-wrap:wrap;gap:.5em;align-items:center;margin:.4em 0 .9em}
form.request{display:grid;grid-template-columns:max-content minmax(10em,40em);gap:.4em .8em;align-items:start}
.cards{display:grid;grid-template-columns:repeat(auto-fill,minmax(13em,1fr));gap:.8em}
.card{border:1px solid var(--line);border-radius:6px;padding:.6em .9em;background:var(--panel)}
.card b{display:block;font-size:1.5em;font-weight:600}
.dim{color:var(--dim)}.good{color:var(--good)}.warn{color:var(--warn)}.bad{color:var(--bad)}
.verdict{border-left:4px solid var(--line);padding:.3em .9em;margin:.4em 0;background:var(--panel)}
.verdict.good{border-color:var(--good)}.verdict.warn{border-color:var(--warn)}.verdict.bad{border-color:var(--bad)}
.verdict.good,.verdict.warn,.verdict.bad{color:var(--fg)}
.columns{display:grid;grid-template-columns:repeat(auto-fit,minmax(24em,1fr));gap:0 1.5em}
.columns>*{min-width:0}
.source{counter-reset:none;white-space:pre}.source .line{display:block;white-space:pre-wrap;padding-left:4.2em;text-indent:-4.2em}
.source .nr{display:inline-block;width:3.6em;margin-right:.6em;text-align:right;color:var(--dim);user-select:none;text-indent:0}
.source .marked{background:var(--mark)}.source mark{color:inherit;background:none;border-bottom:2px solid var(--bad)}
.source .note{display:block;white-space:normal;margin-left:4.2em;padding:.1em 0}
details{margin-left:1em}details>details{margin-left:1.4em}summary{cursor:pointer;padding:.1em 0}
summary:hover{background:var(--panel)}
.tabs{display:flex;flex-wrap:wrap;gap:.2em 1.2em;border-bottom:1px solid var(--line);margin:.4em 0 1em}
.tabs a[aria-current]{font-weight:600;color:var(--fg);border-bottom:2px solid var(--accent)}
.pages{display:flex;gap:1em;margin:.8em 0}
svg{max-width:100%;height:auto}svg text{fill:var(--fg);font:11px system-ui,sans-serif}
svg .axis{stroke:var(--line)}svg .bar{fill:var(--accent)}svg .bar.warn{fill:var(--warn)}svg .bar.bad{fill:var(--bad)}
svg a:hover .bar,svg a:focus .bar{opacity:.7}svg .edge{stroke:var(--dim);fill:none}
svg .node{fill:var(--panel);stroke:var(--line)}svg .node.self{stroke:var(--accent);stroke-width:2}
svg .node.missing{stroke:var(--bad);stroke-dasharray:4 3}
#changed{position:sticky;top:0;background:var(--mark);padding:.3em 1.2em}
[hidden]{display:none}
`;

/** The mark of the pages in a browser's tabs. */
export const ICON = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16"><g fill="none" stroke="#2f6fde" ` +
  `stroke-width="1.6"><path d="M3 3L13 8L3 13Z"/></g><g fill="#2f6fde"><circle cx="3" cy="3" r="2"/>` +
  `<circle cx="13" cy="8" r="2"/><circle cx="3" cy="13" r="2"/></g></svg>`;
