/**
 * Missing namespaces that objects name outside of hosts and callers: export targets, imports of a Sidecar, sources of a
 * Gateway's VirtualServices, and clients of a match. Reported only if Namespace objects are known: a folder without
 * Namespace objects proves nothing.
 *
 * @module
 */
import { nearestName } from "../../kernel/text/nearest.ts";
import { isWildcard } from "../../mesh/host_match.ts";
import type { Analyzer, ReportMistake } from "../analyzer.ts";
import type { AnalysisReader } from "../reader/reader.ts";

/** A namespace, and the field that names the namespace. */
interface NamedNamespace {
  readonly field: string;
  /** The value as written, with the text around the namespace. */
  readonly value: string;
  readonly namespace: string;
  readonly effect: string;
}

/** Signs for all namespaces, the object's own namespace, and no namespace. */
const NO_NAMES: ReadonlySet<string> = new Set(["", "*", ".", "~"]);

export const SIDECAR_NAMESPACES: Analyzer<"Sidecar"> = {
  kind: "Sidecar",
  reports: ["unknown-namespace"],
  analyze: ({ spec: { egress = [] } }, read, report) => {
    const named = egress.flatMap(({ hosts }, at) =>
      // For an import by name, another finding reports the missing host.
      ofHosts(`spec.egress[${at}].hosts`, hosts, "Nothing is imported by it.").filter(({ value }) =>
        isWildcard(value.slice(value.indexOf("/") + 1))
      )
    );
    look(named, read, report);
  },
};

export const GATEWAY_NAMESPACES: Analyzer<"Gateway"> = {
  kind: "Gateway",
  reports: ["unknown-namespace"],
  analyze: ({ spec: { servers } }, read, report) => {
    const effect = "No VirtualService is served by this host.";
    look(servers.flatMap(({ hosts }, at) => ofHosts(`spec.servers[${at}].hosts`, hosts, effect)), read, report);
  },
};

export const ROUTE_NAMESPACES: Analyzer<"VirtualService"> = {
  kind: "VirtualService",
  reports: ["unknown-namespace"],
  analyze: ({ spec }, read, report) => {
    const lists = { http: spec.http ?? [], tls: spec.tls ?? [], tcp: spec.tcp ?? [] };
    const matched = Object.entries(lists).flatMap(([list, rules]) =>
      rules.flatMap(({ match }, at) =>
        (match as readonly { readonly sourceNamespace?: string }[] | undefined ?? []).map((
          { sourceNamespace = "" },
          position,
        ): NamedNamespace => ({
          field: `spec.${list}[${at}].match[${position}].sourceNamespace`,
          value: sourceNamespace,
          namespace: sourceNamespace,
          effect: "No client matches the namespace.",
        }))
      )
    );
    look([...matched, ...ofExport(spec.exportTo)], read, report);
  },
};

export const RULE_NAMESPACES: Analyzer<"DestinationRule"> = {
  kind: "DestinationRule",
  reports: ["unknown-namespace"],
  analyze: ({ spec }, read, report) => look(ofExport(spec.exportTo), read, report),
};

export const ENTRY_NAMESPACES: Analyzer<"ServiceEntry"> = {
  kind: "ServiceEntry",
  reports: ["unknown-namespace"],
  analyze: ({ spec }, read, report) => look(ofExport(spec.exportTo), read, report),
};

function ofExport(exportTo: readonly string[] = []): NamedNamespace[] {
  return exportTo.map((value, at) => ({
    field: `spec.exportTo[${at}]`,
    value,
    namespace: value,
    effect: "The entry shows the object to nobody.",
  }));
}

/** `NAMESPACE/HOST`. */
function ofHosts(path: string, hosts: readonly string[], effect: string): NamedNamespace[] {
  return hosts.map((value, at) => ({
    field: `${path}[${at}]`,
    value,
    namespace: value.includes("/") ? value.slice(0, value.indexOf("/")) : "",
    effect,
  }));
}

function look(named: readonly NamedNamespace[], read: AnalysisReader, report: ReportMistake): void {
  if (read.settings.assumeServices) return;
  for (const { field, value, namespace, effect } of named) {
    if (NO_NAMES.has(namespace) || namespace === read.meshConfig.rootNamespace || read.isListUnknown("namespaces")) {
      continue;
    }
    const names = read.namespaceNames();
    if (names.includes(namespace)) continue;
    const closest = nearestName(namespace, names);
    report("warning", "unknown-namespace", {
      field,
      value,
      expected: `a namespace that exists (${namespace} does not)${closest === undefined ? "" : `, such as ${closest}`}`,
      effect,
    });
  }
}
