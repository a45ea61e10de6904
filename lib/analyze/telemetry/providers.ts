/**
 * Providers of Telemetries: access logs without any, and providers that cannot be used.
 *
 * @module
 */
import type { ProviderRef } from "../../config/kinds/telemetry/types.ts";
import type { ProviderService } from "../../config/mesh/provider_types.ts";
import type { ExtensionProvider } from "../../config/mesh/types.ts";
import { namedProvider, providerUseProblem } from "../../config/mesh/telemetry_providers.ts";
import type { Analyzer, ReportMistake } from "../analyzer.ts";
import type { AnalysisReader } from "../reader/reader.ts";

type ProviderUse = "accessLogging" | "tracing" | "metrics";

/** See the module. */
export const TELEMETRY_PROVIDERS: Analyzer<"Telemetry"> = {
  kind: "Telemetry",
  reports: ["no-log-provider", "unusable-telemetry-provider"],
  analyze: ({ spec: { accessLogging = [], tracing = [], metrics = [] }, meta: { namespace } }, read, report) => {
    const check = (use: ProviderUse, at: number, providers: readonly ProviderRef[] = []) =>
      providers.forEach(({ name }, position) => {
        const expected = problem(name, use, namespace, read);
        const field = `spec.${use}[${at}].providers[${position}].name`;
        if (expected !== undefined) report("warning", "unusable-telemetry-provider", { field, value: name, expected });
      });
    accessLogging.forEach(({ providers }, at) => check("accessLogging", at, providers));
    tracing.forEach(({ providers }, at) => check("tracing", at, providers));
    metrics.forEach(({ providers }, at) => check("metrics", at, providers));
    reportNoProviders(accessLogging, read, report);
  },
};

function reportNoProviders(
  accessLogging: readonly { readonly providers?: readonly ProviderRef[]; readonly disabled?: boolean }[],
  read: AnalysisReader,
  report: ReportMistake,
): void {
  if ((read.meshConfig.defaultProviders.accessLogging?.length ?? 0) > 0) return;
  for (const [at, { providers = [], disabled }] of accessLogging.entries()) {
    if (disabled === true || providers.length > 0) continue;
    report("warning", "no-log-provider", {
      field: `spec.accessLogging[${at}].providers`,
      expected: "a provider (defaultProviders.accessLogging of the mesh configuration has none)",
    });
  }
}

/** The expectation that a provider does not meet; undefined: it meets all. */
function problem(
  name: string,
  use: ProviderUse,
  namespace: string,
  read: AnalysisReader,
): string | undefined {
  const why = providerUseProblem(read.meshConfig, name, use);
  if (why !== undefined) return `a provider that can be used (${name} ${why})`;
  const service = serviceOf(namedProvider(read.meshConfig, name));
  if (service === undefined) return undefined;
  const found = read.service(service.service.slice(service.service.indexOf("/") + 1).toLowerCase(), namespace);
  if (found === undefined) return `a provider whose service is seen here (${service.service} is not)`;
  if (found.ports.some(({ port }) => port === service.port)) return undefined;
  return `a provider whose service has its port (${service.service} has no port ${service.port})`;
}

/** The service that a provider sends to; undefined: it writes files. */
function serviceOf(provider: ExtensionProvider | undefined): ProviderService | undefined {
  const { proxyHttpAls, proxyTcpAls, proxyOtelAls, zipkin, datadog, skywalking, opentelemetry } = provider ?? {};
  return proxyHttpAls ?? proxyTcpAls ?? proxyOtelAls ?? zipkin ?? datadog ?? skywalking ?? opentelemetry;
}
