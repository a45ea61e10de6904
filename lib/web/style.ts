/**
 * The style sheet of all pages. The reader chooses light or dark colours. States have a mark and a word beside their
 * colour.
 *
 * @module
 */

import { GRAPH_STYLE } from "./graph_style.ts";

/** The colours, light and dark. */
export const COLOURS =
  `:root{color-scheme:light dark;--bg:#fff;--fg:#1b1f24;--dim:#59636e;--line:#d5dae0;--panel:#f5f7f9;
--link:#0a58b5;--good:#17713a;--warn:#8a5a00;--bad:#b3261e;--mark:#fff3c4;--accent:#2f6fde}
@media(prefers-color-scheme:dark){:root{--bg:#14171b;--fg:#e4e7eb;--dim:#9aa4af;--line:#333a42;--panel:#1c2127;
--link:#7db4ff;--good:#5fce8a;--warn:#e5b455;--bad:#ff8a80;--mark:#3b310f;--accent:#5b93f5}}`;

/** The text of the style sheet. */
export const STYLE = `${COLOURS}
*{box-sizing:border-box}
body{margin:0;background:var(--bg);color:var(--fg);font:15px/1.45 system-ui,sans-serif}
a{color:var(--link);text-decoration:none}a:hover{text-decoration:underline}
:focus-visible{outline:2px solid var(--accent);outline-offset:2px}
.skip{position:absolute;left:-99em}.skip:focus{left:1em;top:.5em;background:var(--bg);padding:.3em .6em;z-index:1}
header{display:flex;flex-wrap:wrap;gap:.4em 1.2em;align-items:center;padding:.6em 1.2em;border-bottom:1px solid var(--line);
background:var(--panel)}
header nav{display:flex;flex-wrap:wrap;gap:.2em 1em;flex:1 1 20em}header form{flex:0 1 16em}header input{width:100%}
header nav a[aria-current]{font-weight:600;color:var(--fg);border-bottom:2px solid var(--accent)}
main{padding:1em 1.2em;max-width:110em;overflow-wrap:anywhere}button{white-space:nowrap}
footer{padding:1em 1.2em;color:var(--dim);border-top:1px solid var(--line)}
.title{margin:.2em 0 .6em}h1{display:inline;font-size:1.35em;margin:0;overflow-wrap:anywhere}h2{font-size:1.08em;margin:1.4em 0 .4em}
h3{font-size:1em;margin:1em 0 .3em}
table{border-collapse:collapse;width:100%}
th,td{text-align:left;vertical-align:top;padding:.28em .8em .28em 0;border-bottom:1px solid var(--line);overflow-wrap:anywhere}
th{font-weight:600;color:var(--dim);white-space:nowrap}td.number,th.number{text-align:right;white-space:nowrap}td:last-child,th:last-child{padding-right:0}
table.words td{overflow-wrap:break-word}table.words .long{overflow-wrap:anywhere}.state{white-space:nowrap}
tr:target{background:var(--mark)}
code.whole{white-space:nowrap}
code,pre,.mono{font-family:ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;font-size:.92em}
pre{background:var(--panel);border:1px solid var(--line);padding:.6em .8em;overflow:auto;max-height:70vh;margin:.3em 0}
footer code{overflow-wrap:anywhere;user-select:all}
input,select,textarea,button{font:inherit;color:inherit;background:var(--bg);border:1px solid var(--line);border-radius:4px;
padding:.2em .5em}
button{background:var(--panel);cursor:pointer}::placeholder{color:var(--dim);opacity:1}
form.filter{display:flex;flex-wrap:wrap;gap:.5em;align-items:center;margin:.4em 0 .9em}
form.request button{justify-self:start}.with{display:flex;flex-wrap:wrap;gap:.4em}.with select{flex:1 1 12em;min-width:0}form.request{display:grid;grid-template-columns:max-content minmax(10em,40em);gap:.4em .8em;align-items:start}
.cards{display:grid;grid-template-columns:repeat(auto-fill,minmax(min(13em,100%),1fr));gap:.8em}
.card{border:1px solid var(--line);border-radius:6px;padding:.6em .9em;background:var(--panel)}
.card b{display:block;font-size:1.5em;font-weight:600}
.dim{color:var(--dim)}.good{color:var(--good)}.warn{color:var(--warn)}.bad{color:var(--bad)}
.verdict{border-left:4px solid var(--line);padding:.3em .9em;margin:.4em 0;background:var(--panel)}
.verdict.good{border-color:var(--good)}.verdict.warn{border-color:var(--warn)}.verdict.bad{border-color:var(--bad)}
.verdict.good,.verdict.warn,.verdict.bad{color:var(--fg)}.verdict{overflow-wrap:anywhere}
.verdict.big{padding:.7em 1.1em;border-radius:0 6px 6px 0;margin:.4em 0 1em}.verdict.big p{margin:.2em 0}
.verdict.big>p:first-child{font-size:1.35em;font-weight:600}.verdict.big ul{list-style:none;margin:.4em 0;padding:0}.verdict.big li{margin:.15em 0}
.panels{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(30em,100%),1fr));gap:1em}
.panel{border:1px solid var(--line);border-radius:6px;padding:.7em 1em;min-width:0}.panel h2{margin:0 0 .5em}
.panel:target{border-color:var(--accent)}.panel p{margin:.3em 0}.panel tbody tr:last-child td{border-bottom:0}
ul.plain,ul.flow{list-style:none;margin:.5em 0;padding:0}ul.flow{display:flex;flex-wrap:wrap;gap:.2em 1.2em}
.ends{display:flex;justify-content:space-between;font-size:.85em}
svg.spark{display:block;width:100%;height:4em}svg.share{display:block;width:100%;height:.7em;border-radius:4px}
svg.spark .axis{vector-effect:non-scaling-stroke}svg .ground,svg .bar.ground{fill:var(--line)}svg .bar.good{fill:var(--good)}
th.sorts a{color:inherit}.copy{margin-left:.3em;font-size:.75rem;padding:.05em .5em;vertical-align:middle;color:var(--dim)}
.aside{position:fixed;left:-99em}
.columns{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(24em,100%),1fr));gap:0 1.5em}
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
.graph{overflow:auto;border:1px solid var(--line);border-radius:6px;max-height:80vh}.graph svg{max-width:none;display:block}
.wide{overflow-x:auto}.wide table{min-width:46em}.wide td{overflow-wrap:break-word}
${GRAPH_STYLE}
#changed{position:sticky;top:0;background:var(--mark);padding:.3em 1.2em}
[hidden]{display:none!important}
@media(max-width:48em){header,main,footer{padding-left:.9em;padding-right:.9em}
table.list,table.list tbody,table.list tr,table.list td,table.facts,table.facts tbody,table.facts tr,table.facts td,table.facts th
{display:block;width:100%}
table.list thead tr{display:flex;flex-wrap:wrap;gap:.1em .9em;padding-bottom:.3em}
table.list thead th{display:none;border:0;padding:0}table.list thead th.sorts{display:block}
table.list tr{padding:.4em 0;border-bottom:1px solid var(--line)}
table.list td{display:grid;grid-template-columns:7.4em minmax(0,1fr);gap:0 .7em;border:0;padding:.1em 0;text-align:left}
table.list thead:not(:has(.sorts)){display:none}.wide table{min-width:0}
table.list td::before{content:attr(data-title);color:var(--dim);grid-row:1/span 99}
table.list td>*{grid-column:2}table.list td:empty{display:none}
table.facts th{border:0;padding-bottom:0}
form.request{grid-template-columns:minmax(0,1fr)}form.filter input,form.filter select{max-width:100%;min-width:0}
details{margin-left:.3em}details>details{margin-left:.6em}
.source .line{padding-left:2.6em;text-indent:-2.6em}.source .nr{width:2.2em;margin-right:.4em}.source .note{margin-left:2.6em}}
`;

/** The mark of the pages in a browser's tabs. */
export const ICON = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16"><g fill="none" stroke="#2f6fde" ` +
  `stroke-width="1.6"><path d="M3 3L13 8L3 13Z"/></g><g fill="#2f6fde"><circle cx="3" cy="3" r="2"/>` +
  `<circle cx="13" cy="8" r="2"/><circle cx="3" cy="13" r="2"/></g></svg>`;
