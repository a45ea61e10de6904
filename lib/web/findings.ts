/**
 * Findings for people: mistakes in configuration, and settings that it asks for and proxies do not get.
 *
 * @module
 */
import type { DebugView } from "../debug/view.ts";
import { type Finding, findingIdentity, findingKeys, findingKind } from "../finding/finding.ts";
import { describeOrigin } from "../finding/origin.ts";
import { saidOnce } from "../finding/said_once.ts";
import { allWarnings } from "../debug/pushes.ts";
import { settledFindings } from "../debug/within.ts";
import { type Html, markup } from "./html.ts";
import { objectUrl } from "./links.ts";
import { filterForm, listPart, pageLinks, searched, table } from "./list.ts";
import type { WebPage, WebPageMaker } from "./view.ts";
import { stateHtml } from "./words.ts";

/** All findings, each once, the worst first. */
export function findingsOf(view: DebugView): Finding[] {
  const all = [...view.findings(), ...view.analysis.findings(), ...allWarnings(view)];
  const distinct = saidOnce([...new Map(all.map((one) => [findingIdentity(one), one])).values()]);
  return (["error", "warning", "info"] as const).flatMap((wanted) =>
    distinct.filter(({ severity }) => severity === wanted)
  );
}

/** Findings by the key of each object that they are about. */
export function findingsByObject(view: DebugView): Map<string, Finding[]> {
  const found = new Map<string, Finding[]>();
  for (const finding of findingsOf(view)) {
    for (const key of new Set(findingKeys(finding))) {
      const list = found.get(key);
      if (list === undefined) found.set(key, [finding]);
      else list.push(finding);
    }
  }
  return found;
}

/** The page; queries `q`, `severity`, `code`. */
export const findingsPage: WebPageMaker = async (request, view): Promise<WebPage> => {
  await settledFindings(view, request.signal);
  const all = findingsOf(view);
  const severity = request.query.get("severity") ?? "";
  const code = request.query.get("code") ?? "";
  const holds = searched(request);
  const found = all.filter((one) =>
    (severity === "" || one.severity === severity) && (code === "" || one.code === code) &&
    holds([one.code, one.message, ...findingKeys(one), placeText(one)].join(" "))
  );
  const part = listPart(found, request);
  const codes = [...new Set(all.map((one) => one.code))].sort();
  const choices = [
    { name: "severity", label: "any severity", options: ["error", "warning", "info"] },
    { name: "code", label: "any code", options: codes },
  ];
  return {
    title: "Findings",
    live: "push",
    body: markup`
      ${filterForm(request, choices)}${findingTable(part.items)}${pageLinks(part, request)}
    `,
  };
};

/** A table of findings. */
export function findingTable(findings: readonly Finding[]): Html {
  const rows = findings.map((one) => [
    severityHtml(one),
    markup`<code>${one.code}</code>`,
    findingKeys(one).map((key, at) =>
      markup`
        <a href="${objectUrl(key)}">${at === 0 ? `${findingKind(one)}${key.slice(key.indexOf("/"))}` : key}</a><br>
      `
    ),
    markup`
      <span class="mono">${placeText(one)}</span>
    `,
    markup`${one.message}<br><span class="dim">${one.effect} ${one.fix}</span>`,
  ]);
  return table(["Severity", "Code", "Objects", "Where", "What, effect, fix"], rows, "nothing is wrong");
}

const TONES = { error: "bad", warning: "warn", info: "dim" } as const;

/** The severity with its mark. */
export function severityHtml({ severity }: Finding): Html {
  return stateHtml({ tone: TONES[severity], word: severity });
}

/** File and line of a finding, as far as they are known. */
export function placeText({ place: { origin, line, field } }: Finding): string {
  const at = origin?.from === "file" && line > 0 ? { ...origin, line } : origin;
  return [at === undefined ? "" : describeOrigin(at), field].filter((part) => part !== "").join(" ");
}
