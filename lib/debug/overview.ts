/**
 * `/debug/overview`: whether everything is all right, and what is not.
 *
 * The cost is bounded: findings are grouped by code, each distinct resource is looked at once for all proxies, and every
 * list has a limit.
 *
 * @module
 */
import { type HttpRequest, type HttpResponse, jsonResponse } from "../http/message.ts";
import { certificateState, isReplaced } from "./certificates.ts";
import { type CodeGroup, findingsByCode, groupUrl } from "./findings_by_code.ts";
import { TONES } from "./findings.ts";
import { withQuery } from "./links.ts";
import type { ListTable, StateWord } from "./list_page.ts";
import { conditionWords, PROXY_CONDITIONS, type ProxyCondition, proxyCondition } from "./proxies.ts";
import type { CertificateView, DebugView, MemoryView, SourceView } from "./view.ts";
import { settledFindings } from "./within.ts";
import { counted, durationText } from "./words.ts";

/** Something that is not all right, with the page that says more. */
export interface OverviewConcern {
  readonly tone: "bad" | "warn";
  readonly text: string;
  readonly link: string;
}

/** The overview of a server and its mesh. */
export interface MeshOverview {
  /** In a word. */
  readonly verdict: StateWord;
  /** What is not all right, the worst first. */
  readonly concerns: readonly OverviewConcern[];
  /** The present findings by code, the worst first. */
  readonly findings: readonly CodeGroup[];
  readonly proxies: Readonly<Record<ProxyCondition, number>>;
  readonly certificates: readonly CertificateView[];
  readonly sources: readonly SourceView[];
  /** Pushes of each of the last sixty minutes, the present minute last. */
  readonly pushes: readonly number[];
  readonly memory: MemoryView;
  readonly objects: number;
  readonly services: number;
}

/** Share of the heap's limit beyond which memory is a concern. */
const MUCH_HEAP = 0.8;

/** The present overview. */
export function meshOverview(view: DebugView): MeshOverview {
  const now = view.now();
  const facts = {
    findings: findingsByCode(view),
    proxies: proxyCounts(view),
    certificates: view.certificates().toSorted((a, b) => a.notAfter - b.notAfter),
    sources: view.sources(),
    pushes: view.xds.ledger.minutes.lastHour(now),
    memory: view.memory(),
    objects: view.store.size,
    services: view.services.serviceCount,
  };
  const concerns = concernsOf(facts, view.ready(), now);
  return { verdict: verdictOf(concerns), concerns, ...facts };
}

function proxyCounts(view: DebugView): Record<ProxyCondition, number> {
  const counts = { synced: 0, behind: 0, rejecting: 0, failing: 0 };
  for (const connection of view.xds.streams()) counts[proxyCondition(connection, view)]++;
  return counts;
}

function verdictOf(concerns: readonly OverviewConcern[]): StateWord {
  const bad = concerns.filter(({ tone }) => tone === "bad").length;
  if (bad > 0) return { tone: "bad", word: bad === 1 ? "Something is wrong" : `${bad} things are wrong` };
  const [first] = concerns;
  return first === undefined
    ? { tone: "good", word: "Everything is all right" }
    : { tone: "warn", word: "Nothing is broken, but have a look" };
}

type OverviewFacts = Omit<MeshOverview, "verdict" | "concerns">;

/** Everything that is not all right, the worst first. */
function concernsOf(facts: OverviewFacts, isReady: boolean, now: number): OverviewConcern[] {
  const concerns = [
    ...isReady
      ? []
      : [{ tone: "bad", text: "The server is not ready: its sources are not synced yet", link: "/ready" } as const],
    ...proxyConcerns(facts.proxies),
    ...findingConcerns(facts.findings),
    ...certificateConcerns(facts.certificates, now),
    ...facts.sources.flatMap((source) => sourceConcern(source, now)),
    ...memoryConcern(facts.memory),
  ];
  return (["bad", "warn"] as const).flatMap((wanted) => concerns.filter(({ tone }) => tone === wanted));
}

function proxyConcerns(proxies: MeshOverview["proxies"]): OverviewConcern[] {
  const total = Object.values(proxies).reduce((sum, count) => sum + count, 0);
  if (total === 0) return [{ tone: "warn", text: "No proxy is connected", link: "/debug/connections" }];
  return PROXY_CONDITIONS.flatMap((row) => {
    const { condition, tone } = row;
    const count = proxies[condition];
    return tone === "good" || count === 0 ? [] : [{
      tone,
      text: `${count} of ${counted(total, "proxy", "proxies")} ${conditionWords(row, count)}`,
      link: withQuery("/debug/connections", { state: condition }),
    }];
  });
}

function findingConcerns(groups: readonly CodeGroup[]): OverviewConcern[] {
  const sum = (wanted: string) =>
    groups.filter(({ severity }) => severity === wanted).reduce((total, { count }) => total + count, 0);
  const [errors, warnings] = [sum("error"), sum("warning")];
  const link = (severity: string) => withQuery("/debug/findings_by_code", { severity });
  return [
    ...errors > 0
      ? [{ tone: "bad", text: `${counted(errors, "error")} in configuration`, link: link("error") } as const]
      : [],
    ...warnings > 0
      ? [{ tone: "warn", text: `${counted(warnings, "warning")} about configuration`, link: link("warning") } as const]
      : [],
  ];
}

function certificateConcerns(all: readonly CertificateView[], now: number): OverviewConcern[] {
  return all.flatMap((one) => {
    const { tone, word } = certificateState(one, now);
    if (tone === "good" || tone === "dim" || isReplaced(one, all, now)) return [];
    const whose =
      { signing: "The signing certificate", server: "The server's certificate", root: "The root" }[one.role];
    return [{ tone, text: `${whose} ${one.subject} ${word}`, link: "#certificates" }];
  });
}

function sourceConcern({ sort, name, problem, since }: SourceView, now: number): OverviewConcern[] {
  if (problem === undefined) return [];
  const long = since === undefined ? "" : `, for ${durationText(now - since)}`;
  return [{ tone: "bad", text: `The ${sort} ${name} is not followed${long}: ${problem}`, link: "#sources" }];
}

function memoryConcern({ heapUsed, heapLimit }: MemoryView): OverviewConcern[] {
  if (heapUsed <= MUCH_HEAP * heapLimit) return [];
  return [{ tone: "warn", text: `${Math.round(heapUsed / heapLimit * 100)} % of the heap is in use`, link: "#memory" }];
}

/** The worst findings of the overview. */
export const WORST_FINDINGS: ListTable<CodeGroup, void> = {
  noun: "finding",
  none: "Nothing is wrong with the configuration.",
  columns: [
    { title: "Severity", cell: ({ severity }) => ({ tone: TONES[severity], word: severity }) },
    { title: "Code", cell: (group) => ({ code: group.code, link: groupUrl(group) }) },
    { title: "What", cell: ({ titles }) => titles },
    { title: "Findings", isNumber: true, cell: ({ count }) => count },
    { title: "Proxies", isNumber: true, cell: ({ proxies }) => proxies ?? { dim: "not known" } },
  ],
};

/** The sources with their lag: how long the server has not followed them. */
export const SOURCES: ListTable<SourceView, number> = {
  noun: "source",
  none: "The server reads no source.",
  columns: [
    { title: "Source", cell: ({ sort, name }) => [sort, { mono: name }] },
    {
      title: "State",
      cell: ({ problem }) =>
        problem === undefined ? { tone: "good", word: "followed" } : { tone: "bad", word: problem },
    },
    {
      title: "Lag",
      isNumber: true,
      cell: ({ problem, since }, now) =>
        problem === undefined ? "none" : since === undefined ? "not known" : durationText(now - since),
    },
  ],
};

/** `/debug/overview`. */
export async function overview(request: HttpRequest, view: DebugView): Promise<HttpResponse> {
  await settledFindings(view, request.signal);
  return jsonResponse(meshOverview(view), request);
}
