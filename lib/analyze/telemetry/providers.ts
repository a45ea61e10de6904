/**
 * Providers of Telemetries: access logs without a provider, and unusable providers.
 *
 * @module
 */
import type { ProviderRef } from "../../config/kinds/telemetry/schema.ts";
import type { ProviderService } from "../../config/mesh/provider_schema.ts";
import type { ConfigObject } from "../../config/types.ts";
import type { ExtensionProvider } from "../../config/mesh/types.ts";
import { namedProvider, providerUseProblem } from "../../config/mesh/telemetry_providers.ts";
import { namedService } from "../../mesh/named_service.ts";
import { providerServiceProblem, writtenService } from "../../mesh/provider_service.ts";
import type { Analyzer, ReportMistake } from "../analyzer.ts";
import type { AnalysisReader } from "../reader/reader.ts";

type AskedTelemetry = ConfigObject<"Telemetry">;
type ProviderUse = (typeof PROVIDER_USES)[number];

export const TELEMETRY_PROVIDERS: Analyzer<"Telemetry"> = {
  kind: "Telemetry",
  reports: ["no-log-provider", "no-telemetry-provider", "unusable-telemetry-provider"],
  analyze: (telemetry, read, report) => {
    const { spec: { accessLogging = [], tracing = [], metrics = [] }, meta: { namespace } } = telemetry;
    const check = (use: ProviderUse, at: number, providers: readonly ProviderRef[] = []) =>
      providers.forEach(({ name }, position) => {
        const expected = problem(name, use, namespace, read);
        const field = `spec.${use}[${at}].providers[${position}].name`;
        if (expected !== undefined) report("warning", "unusable-telemetry-provider", { field, value: name, expected });
      });
    accessLogging.forEach(({ providers }, at) => check("accessLogging", at, providers));
    tracing.forEach(({ providers }, at) => check("tracing", at, providers));
    metrics.forEach(({ providers }, at) => check("metrics", at, providers));
    reportNoProviders(telemetry, read, report);
  },
};

function reportNoProviders(telemetry: AskedTelemetry, read: AnalysisReader, report: ReportMistake): void {
  const { accessLogging = [], tracing = [], metrics = [] } = telemetry.spec;
  const asking: Readonly<Record<ProviderUse, readonly boolean[]>> = {
    accessLogging: accessLogging.map(({ disabled }) => disabled !== true),
    tracing: tracing.map(({ disableSpanReporting }) => disableSpanReporting !== true),
    metrics: metrics.map(({ overrides = [] }) => overrides.some(({ disabled }) => disabled !== true)),
  };
  for (const use of PROVIDER_USES) {
    const at = asking[use].indexOf(true);
    if (at < 0 || hasProvider(telemetry, use, read)) continue;
    const name = use === "accessLogging" ? "no-log-provider" : "no-telemetry-provider";
    report("warning", name, {
      field: `spec.${use}[${at}].providers`,
      expected: `a provider (no Telemetry for these workloads names one, nor does defaultProviders.${use})`,
    });
  }
}

const PROVIDER_USES = ["accessLogging", "tracing", "metrics"] as const;

/** Whether a Telemetry, an inherited Telemetry, or the mesh configuration names a provider. */
function hasProvider(telemetry: AskedTelemetry, use: ProviderUse, read: AnalysisReader): boolean {
  if ((read.meshConfig.defaultProviders[use]?.length ?? 0) > 0) return true;
  const names = ({ spec }: AskedTelemetry) => (spec[use] ?? []).some(({ providers = [] }) => providers.length > 0);
  return names(telemetry) ||
    [read.meshConfig.rootNamespace, telemetry.meta.namespace].some((namespace) =>
      read.withoutSelector("telemetry", namespace).some((other) => names(other))
    );
}

/** The expectation that a provider does not meet; undefined: the provider meets all. */
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
  const found = namedService(writtenService(service).hostname, (host) => read.service(host, namespace)).service;
  const wrong = providerServiceProblem(service, found);
  return wrong === undefined
    ? undefined
    : `a provider whose service has the port and is seen here (${name} is of ${wrong})`;
}

/** The service that a provider sends to; undefined: the provider writes files. */
function serviceOf(provider: ExtensionProvider | undefined): ProviderService | undefined {
  const { proxyHttpAls, proxyTcpAls, proxyOtelAls, zipkin, datadog, skywalking, opentelemetry } = provider ?? {};
  return proxyHttpAls ?? proxyTcpAls ?? proxyOtelAls ?? zipkin ?? datadog ?? skywalking ?? opentelemetry;
}
