/**
 * The first page: whether everything is all right. A verdict with its reasons stands on top; the parts below say more,
 * and link to their pages.
 *
 * @module
 */
import { KINDS } from "../config/kinds/kinds.ts";
import { CERTIFICATES } from "../debug/certificates.ts";
import { withQuery } from "../debug/links.ts";
import { type MeshOverview, meshOverview, type OverviewConcern, SOURCES, WORST_FINDINGS } from "../debug/overview.ts";
import { conditionWords, PROXY_CONDITIONS } from "../debug/proxies.ts";
import { PUSHES } from "../debug/pushes.ts";
import type { DebugView } from "../debug/view.ts";
import { settledFindings } from "../debug/within.ts";
import { bytesText, counted } from "../debug/words.ts";
import type { LivePart } from "./events.ts";
import { type Html, markup } from "./html.ts";
import { tableOf } from "./list_page.ts";
import { shareBar, sparkline } from "./sparkline.ts";
import type { WebPage, WebPageMaker } from "./view.ts";
import { stateHtml } from "./words.ts";

/** Rows of the tables of the page. */
const SHOWN_PUSHES = 5;
const SHOWN_FINDINGS = 8;
const SHOWN_CERTIFICATES = 8;
const SHOWN_SOURCES = 12;

export const overviewPage: WebPageMaker = async (request, view): Promise<WebPage> => {
  await settledFindings(view, request.signal);
  return { title: "Overview", live: "overview", body: overview(view) };
};

const MINUTE_MS = 60_000;

/** The live part of the page, and of other pages the number of the last push. */
export function overviewParts(view: DebugView): LivePart[] {
  const pushed = () => String(view.xds.ledger.latest);
  // Warnings of translation change only with a push, or when a proxy comes or goes. Ages are shown in minutes.
  const revision = () =>
    [
      ...[view.xds.ledger.revision, view.store.size, wrong(view), view.ready(), Math.floor(view.now() / MINUTE_MS)],
      ...view.sources().map(({ problem = "" }) => problem),
    ].join(" ");
  return [
    { event: "overview", revision, text: () => overview(view).text },
    { event: "push", revision: pushed, text: pushed },
  ];
}

/** How much is wrong in the sources and over the whole mesh: errors, and all. */
function wrong(view: DebugView): string {
  const found = [...view.findings(), ...view.analysis.findings()];
  return `${found.filter(({ severity }) => severity === "error").length}/${found.length}`;
}

function overview(view: DebugView): Html {
  const facts = meshOverview(view);
  const pushes = view.xds.ledger.pushes().slice(0, SHOWN_PUSHES);
  return markup`${verdict(facts)}
<div class="panels">
${panel("Findings", "/debug/findings_by_code", findings(facts))}
${panel("Proxies", "/debug/connections", proxies(facts))}
${panel("Pushes of the last hour", "/debug/pushes", pushSparkline(facts.pushes))}
${panel("Memory", undefined, memory(facts), "memory")}
${panel("Certificates and roots", undefined, certificates(facts, view.now()), "certificates")}
${panel("Sources", undefined, sources(facts, view.now()), "sources")}
</div>
<h2>Last pushes</h2>${tableOf(PUSHES, pushes, undefined)}
<h2>Objects by kind</h2>${kinds(view)}`;
}

/** One answer to the question whether everything is all right. */
function verdict({ verdict: { tone, word }, concerns, objects, services }: MeshOverview): Html {
  const counts = markup`<a href="/debug/configz">${counted(objects, "object")}</a>,
<a href="/debug/registryz">${counted(services, "service")}</a>`;
  return markup`<section class="verdict big ${tone}" aria-label="Verdict"><p>${stateHtml({ tone, word })}</p>
${concerns.length > 0 && markup`<ul>${concerns.map(concernItem)}</ul>`}<p class="dim">${counts}</p></section>`;
}

function concernItem({ tone, text, link }: OverviewConcern): Html {
  return markup`<li><a href="${link}">${stateHtml({ tone, word: text })}</a></li>`;
}

function panel(title: string, href: string | undefined, body: Html, id?: string): Html {
  const heading = href === undefined ? markup`<h2>${title}</h2>` : markup`<h2><a href="${href}">${title}</a></h2>`;
  return id === undefined
    ? markup`<section class="panel">${heading}${body}</section>`
    : markup`<section class="panel" id="${id}">${heading}${body}</section>`;
}

function findings({ findings: groups }: MeshOverview): Html {
  const more = groups.length - SHOWN_FINDINGS;
  return markup`${tableOf(WORST_FINDINGS, groups.slice(0, SHOWN_FINDINGS), undefined)}${
    more > 0 && markup`<p><a href="/debug/findings_by_code">and ${counted(more, "more code")}</a></p>`
  }`;
}

function proxies({ proxies: counts }: MeshOverview): Html {
  const total = Object.values(counts).reduce((sum, count) => sum + count, 0);
  const shown = PROXY_CONDITIONS.map((row) => {
    const count = counts[row.condition];
    return { ...row, count, words: conditionWords(row, count) };
  });
  const lines = shown.filter(({ count }) => count > 0).map(({ condition, tone, words, count }) =>
    markup`<li><a href="${withQuery("/debug/connections", { state: condition })}">${
      stateHtml({ tone, word: `${count} of ${total}` })
    }</a> ${words}</li>`
  );
  if (total === 0) return markup`<p class="dim">No proxy is connected.</p>`;
  const text = shown.map(({ condition, count }) => `${count} ${condition}`).join(", ");
  return markup`${shareBar(shown, `Proxies: ${text}`)}<ul class="plain">${lines}</ul>`;
}

function pushSparkline(pushes: readonly number[]): Html {
  const total = pushes.reduce((sum, count) => sum + count, 0);
  const most = Math.max(0, ...pushes);
  const text = total === 0
    ? "No push in the last hour"
    : `${counted(total, "push", "pushes")} in the last hour, at most ${most} in a minute`;
  return markup`${
    sparkline(pushes, text)
  }<p class="ends dim"><span>an hour ago</span><span>now</span></p><p>${text}</p>`;
}

function memory({ memory: { resident, heapUsed, heapLimit } }: MeshOverview): Html {
  const share = Math.round(heapUsed / heapLimit * 100);
  const parts = [{ tone: share > 80 ? "warn" : "good", count: heapUsed }, {
    tone: "ground",
    count: heapLimit - heapUsed,
  }];
  const text = `${bytesText(heapUsed)} of ${bytesText(heapLimit)} of the heap, ${share} %`;
  return markup`${shareBar(parts, text)}<ul class="plain"><li>${text}</li><li>${
    bytesText(resident)
  } of the process</li></ul>`;
}

function certificates({ certificates: all }: MeshOverview, now: number): Html {
  const more = all.length - SHOWN_CERTIFICATES;
  return markup`${tableOf(CERTIFICATES, all.slice(0, SHOWN_CERTIFICATES), { all, now })}${
    more > 0 && markup`<p class="dim">and ${more} more, which end later</p>`
  }`;
}

function sources({ sources: all }: MeshOverview, now: number): Html {
  const sorted = all.toSorted((a, b) => Number(b.problem !== undefined) - Number(a.problem !== undefined));
  const more = all.length - SHOWN_SOURCES;
  return markup`${tableOf(SOURCES, sorted.slice(0, SHOWN_SOURCES), now)}${
    more > 0 && markup`<p class="dim">and ${more} more</p>`
  }`;
}

function kinds({ store }: DebugView): Html {
  const counts = KINDS.map((kind) => [kind, store.list(kind).length] as const).filter(([, count]) => count > 0);
  if (counts.length === 0) return markup`<p class="dim">There is no object. Is --configDir the right folder?</p>`;
  const items = counts.map(([kind, count]) =>
    markup`<li><a href="${withQuery("/debug/configz", { kind })}">${kind}</a> ${count}</li>`
  );
  return markup`<ul class="flow">${items}</ul>`;
}
