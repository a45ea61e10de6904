/**
 * The style of the service graph, in the pages and in exported files. Kinds of lines have a pattern beside their
 * colour.
 *
 * @module
 */

/** Rules for the classes of the picture; the colours are variables of the pages. */
export const GRAPH_STYLE =
  `.calls text{fill:var(--fg);font:12px system-ui,sans-serif}.calls .small{fill:var(--dim);font-size:11px}
.calls rect{fill:var(--panel);stroke:var(--line)}.calls .identity rect,.calls .pattern rect,.calls .anyone rect{fill:var(--bg);
stroke-dasharray:3 2;stroke:var(--dim)}.calls .gateway rect,.calls .waypoint rect{stroke:var(--accent);stroke-width:2}
.calls .host rect{stroke:var(--warn);stroke-dasharray:6 3}
.calls rect.under{fill:var(--bg);stroke:none}
.calls path{fill:none;stroke-width:1.4}.calls .label{fill:var(--fg);font-size:11px}
.calls .allowed path{stroke:var(--good)}.calls .conditional path{stroke:var(--warn);stroke-dasharray:7 4}
.calls .denied path{stroke:var(--bad);stroke-dasharray:2 3}.calls .hidden path{stroke:var(--dim);stroke-dasharray:1 4}
.calls .measured path{stroke:var(--dim)}.calls .label.bad{fill:var(--bad)}.calls .label.warn{fill:var(--warn)}
.calls .route path{stroke:var(--accent)}.calls .entrance path{stroke-width:2.6}
.calls g:hover>path,.calls a:focus rect{stroke-width:3.4}
.calls marker path{stroke:none;stroke-dasharray:none}.calls #to-allowed path{fill:var(--good)}
.calls #to-conditional path{fill:var(--warn)}.calls #to-denied path{fill:var(--bad)}.calls #to-hidden path{fill:var(--dim)}
.calls #to-measured path{fill:var(--dim)}
.calls #to-route path{fill:var(--accent)}`;
