/**
 * The first page: readiness, counts, problems, the number of synced proxies, and the last pushes.
 *
 * @module
 */
import { KINDS } from "../config/kinds/kinds.ts";
import { findingsOf } from "../debug/findings.ts";
import { type Html, markup } from "./html.ts";
import type { LivePart } from "./events.ts";
import { withQuery } from "../debug/links.ts";
import { tableOf } from "./list_page.ts";
import { timeline } from "./timeline.ts";
import type { DebugView } from "../debug/view.ts";
import type { WebPage, WebPageMaker } from "./view.ts";
import { PUSHES } from "../debug/pushes.ts";
import { counted } from "../debug/words.ts";
import { stateHtml } from "./words.ts";

/** Pushes in the table. */
const SHOWN_PUSHES = 10;

export const overviewPage: WebPageMaker = (_request, view): WebPage => ({
  title: "Overview",
  live: "overview",
  body: overview(view),
});

/** The live part of the page, and of other pages the number of the last push. */
export function overviewParts(view: DebugView): LivePart[] {
  const pushed = () => String(view.xds.ledger.latest);
  // Warnings of translation change only with a push, or when a proxy comes or goes.
  const revision = () => `${view.xds.ledger.revision} ${view.store.size} ${wrong(view)} ${view.ready()}`;
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
  const pushes = view.xds.ledger.pushes();
  return markup`
    <div class="cards">${readyCard(view)}${proxiesCard(view)}${findingsCard(view)}${objectsCard(view)}${
    servicesCard(
      view,
    )
  }</div>
    <h2>Last pushes</h2>${timeline(pushes)}${tableOf(PUSHES, pushes.slice(0, SHOWN_PUSHES), undefined)}
    <h2>Objects by kind</h2>${kinds(view)}
  `;
}

function card(title: string, big: string | number, href: string, rest: Html): Html {
  return markup`
    <section class="card"><a href="${href}">${title}</a><b>${big}</b>${rest}</section>
  `;
}

function readyCard(view: DebugView): Html {
  const state = view.ready()
    ? stateHtml({ tone: "good", word: "serving" })
    : stateHtml({ tone: "bad", word: "sources are not synced yet" });
  return card(
    "Ready",
    view.ready() ? "yes" : "no",
    "/ready",
    markup`
      ${state}<br><span class="dim">${view.program}</span>
    `,
  );
}

function proxiesCard({ xds }: DebugView): Html {
  const { synced, total, failing, refusing } = xds.ledger.synced();
  const behind = total - synced - failing - refusing;
  const lines = [
    ...(total === 0 ? [stateHtml({ tone: "dim", word: "none is connected" })] : []),
    ...(behind > 0 ? [stateHtml({ tone: "warn", word: `${behind} have not acknowledged everything` })] : []),
    ...(failing > 0 ? [stateHtml({ tone: "bad", word: `${failing} lack what could not be made` })] : []),
    ...(refusing > 0 ? [stateHtml({ tone: "bad", word: `${refusing} lack what they have rejected` })] : []),
    ...(total > 0 && synced === total ? [stateHtml({ tone: "good", word: "all are up to date" })] : []),
  ];
  return card(
    "Proxies synced of connected",
    `${synced} of ${total}`,
    "/debug/syncz",
    markup`
      ${lines}
    `,
  );
}

function findingsCard(view: DebugView): Html {
  const found = findingsOf(view);
  const errors = found.filter(({ severity }) => severity === "error").length;
  const warnings = found.filter(({ severity }) => severity === "warning").length;
  const line = (count: number, tone: "bad" | "warn", word: string) =>
    count > 0 && markup`
      <a href="${withQuery("/debug/problemz", { severity: word })}">${
      stateHtml({
        tone,
        word: counted(count, word),
      })
    }</a>
    `;
  const none = found.length === 0 && stateHtml({ tone: "good", word: "nothing is wrong" });
  const lines = markup`
    ${line(errors, "bad", "error")}${line(warnings, "warn", "warning")}${none}
  `;
  return card("Findings", found.length, "/debug/problemz", lines);
}

function objectsCard({ store, xds }: DebugView): Html {
  const { latest } = xds.ledger;
  return card(
    "Objects",
    store.size,
    "/debug/configz",
    markup`
      <span class="dim">last push: ${latest}</span>
    `,
  );
}

function servicesCard({ services }: DebugView): Html {
  return card(
    "Services",
    services.serviceCount,
    "/debug/registryz",
    markup`

    `,
  );
}

function kinds({ store }: DebugView): Html {
  const counts = KINDS.map((kind) => [kind, store.list(kind).length] as const).filter(([, count]) => count > 0);
  if (counts.length === 0) {
    return markup`
      <p class="dim">There is no object. Is --configDir the right folder?</p>
    `;
  }
  return markup`
    <p>${
    counts.map(([kind, count]) =>
      markup`
        <a href="${withQuery("/debug/configz", { kind })}">${kind}</a> ${count}&ensp;
      `
    )
  }</p>
  `;
}
