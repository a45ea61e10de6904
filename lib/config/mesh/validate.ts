/**
 * Rules of mesh configuration and mesh networks. Extension providers are in `./validate_providers.ts`.
 *
 * @module
 */
import { isSameCluster } from "../spelling/cluster_name.ts";
import { checkConfigSources } from "./config_sources.ts";
import { checkLabelSelector, checkLabelSelectors } from "./label_selector.ts";
import type { Findings } from "../../finding/findings.ts";
import { checkMeshLogFormat } from "./log_format.ts";
import { joinPath } from "../schema/field.ts";
import { checkLocality } from "../validation/locality.ts";
import { hostProblem, isDnsLabel, wildcardHostProblem } from "../validation/names.ts";
import { checkPort, isIpAddress, subnetProblem } from "../validation/network.ts";
import { checkProbe, checkTcpKeepalive } from "../validation/shared.ts";
import { checkClientTls, isCipherSuite } from "../validation/tls.ts";
import { checkCount, checkDuration, isHeaderName } from "../validation/values.ts";
import { isStatsPattern, STATS_PATTERN } from "./stats_choice.ts";
import type {
  MeshConfig,
  MeshNetworks,
  PrivateKeyProvider,
  ProxySettings,
  ProxyStatsMatcher,
  ProxyTracing,
  ServiceScopeConfig,
} from "./types.ts";
import { checkAuthorities, checkTrustDomain } from "./validate_authorities.ts";
import { checkProviders } from "./validate_providers.ts";

/** Checks a mesh configuration. */
export function validateMeshConfig(mesh: MeshConfig, report: Findings): void {
  checkPort(mesh.proxyListenPort, "proxyListenPort", report);
  checkPort(mesh.proxyInboundListenPort, "proxyInboundListenPort", report);
  if (mesh.proxyHttpPort !== 0) checkPort(mesh.proxyHttpPort, "proxyHttpPort", report);
  checkDuration(mesh.connectTimeout, "connectTimeout", report);
  if (mesh.connectTimeout > 3_600_000) report.error("connectTimeout", `${mesh.connectTimeout}ms`, "at most 1h");
  if (mesh.protocolDetectionTimeout !== 0) {
    checkDuration(mesh.protocolDetectionTimeout, "protocolDetectionTimeout", report);
  }
  checkDuration(mesh.dnsRefreshRate, "dnsRefreshRate", report);
  checkTcpKeepalive(mesh.tcpKeepalive, "tcpKeepalive", report);
  validateProxySettings(mesh.defaultConfig, "defaultConfig", report);
  const [provider] = Object.keys(mesh.defaultConfig.privateKeyProvider ?? {});
  if (provider !== undefined) {
    report.warning("defaultConfig.privateKeyProvider", provider, "none: keys are used without it");
  }
  // Outlier detection belongs to destination rules, so outlier detection counts as given here.
  checkLocality(mesh.localityLbSetting, true, "localityLbSetting", report);
  mesh.serviceSettings.forEach((settings, index) =>
    settings.hosts?.forEach((host, position) => {
      const wrong = wildcardHostProblem(host);
      if (wrong !== undefined) report.error(`serviceSettings[${index}].hosts[${position}]`, host, wrong);
    })
  );
  checkTrustDomain(mesh.trustDomain, "trustDomain", report);
  mesh.trustDomainAliases.forEach((alias, index) => checkTrustDomain(alias, `trustDomainAliases[${index}]`, report));
  if (!isDnsLabel(mesh.rootNamespace)) report.error("rootNamespace", mesh.rootNamespace, "the name of a namespace");
  checkAuthorities(mesh, report);
  checkTls(mesh, report);
  checkCount(mesh.defaultHttpRetryPolicy.attempts, "defaultHttpRetryPolicy.attempts", report);
  checkProviders(mesh.extensionProviders, report);
  checkMeshLogFormat(mesh, report);
  checkConfigSources(mesh.configSources, report);
  checkLabelSelectors(mesh.discoverySelectors ?? [], "discoverySelectors", report);
  checkScopes(mesh.serviceScopeConfigs ?? [], report);
}

function checkScopes(configs: readonly ServiceScopeConfig[], report: Findings): void {
  configs.forEach((config, index) => {
    for (const field of ["namespaceSelector", "servicesSelector"] as const) {
      checkLabelSelector(config[field] ?? {}, `serviceScopeConfigs[${index}].${field}`, report);
    }
  });
}

const CURVES = new Set(["P-224", "P-256", "P-384", "P-521", "X25519", "X25519Kyber768Draft00", "X25519MLKEM768"]);

function checkTls(mesh: MeshConfig, report: Findings): void {
  if (mesh.meshMTLS?.ecdhCurves !== undefined) {
    report.error("meshMTLS.ecdhCurves", mesh.meshMTLS.ecdhCurves, "nothing: curves are fixed between workloads");
  }
  mesh.tlsDefaults?.ecdhCurves?.forEach((curve, index, all) => {
    const at = `tlsDefaults.ecdhCurves[${index}]`;
    if (!CURVES.has(curve)) report.warning(at, curve, `a known curve (${[...CURVES].join(", ")})`);
    else if (all.indexOf(curve) !== index) report.warning(at, curve, "each curve once");
  });
  for (const field of ["meshMTLS", "tlsDefaults"] as const) {
    mesh[field]?.cipherSuites?.forEach((suite, index) => {
      if (!isCipherSuite(suite)) report.warning(`${field}.cipherSuites[${index}]`, suite, "a known cipher suite");
    });
  }
}

/** Checks the settings of a proxy. `at` is the path of the settings; empty for a document of only settings. */
export function validateProxySettings(proxy: ProxySettings, at: string, report: Findings): void {
  const path = (field: string) => joinPath(at, field);
  if (proxy.serviceCluster === "") report.error(path("serviceCluster"), "", "a name that is not empty");
  for (const field of ["drainDuration", "terminationDrainDuration"] as const) {
    checkDuration(proxy[field], path(field), report);
  }
  if (proxy.drainDuration >= 1 && proxy.drainDuration % 1000 !== 0) {
    report.error(path("drainDuration"), `${proxy.drainDuration}ms`, "a duration in whole seconds");
  }
  checkAddress(proxy.discoveryAddress, path("discoveryAddress"), report);
  checkAddress(proxy.statsdUdpAddress, path("statsdUdpAddress"), report);
  checkAddress(proxy.proxyMetricsServiceAddress, path("proxyMetricsServiceAddress"), report);
  checkAddress(proxy.proxyMetricsService?.address, `${path("proxyMetricsService")}.address`, report);
  checkAddress(proxy.proxyAccessLogService?.address, `${path("proxyAccessLogService")}.address`, report);
  checkPort(proxy.proxyAdminPort, path("proxyAdminPort"), report);
  checkPort(proxy.statusPort, path("statusPort"), report);
  checkCount(proxy.concurrency, path("concurrency"), report);
  if (proxy.controlPlaneAuthPolicy === "INHERIT") {
    report.error(path("controlPlaneAuthPolicy"), "INHERIT", "NONE or MUTUAL_TLS");
  }
  checkTracing(proxy.tracing, path("tracing"), report);
  checkStatsMatcher(proxy.proxyStatsMatcher, path("proxyStatsMatcher"), report);
  checkKeyProvider(proxy.privateKeyProvider, path("privateKeyProvider"), report);
  checkProbe(proxy.readinessProbe, path("readinessProbe"), report);
}

function checkStatsMatcher(matcher: ProxyStatsMatcher = {}, at: string, report: Findings): void {
  for (const list of ["inclusionPrefixes", "inclusionSuffixes", "inclusionRegexps"] as const) {
    matcher[list]?.forEach((pattern, index) => {
      if (isStatsPattern(pattern, list === "inclusionRegexps" ? "regex" : "text")) return;
      report.warning(`${at}.${list}[${index}]`, pattern, STATS_PATTERN);
    });
  }
}

function checkTracing(tracing: ProxyTracing | undefined, at: string, report: Findings): void {
  if (tracing === undefined) return;
  for (const tracer of ["zipkin", "lightstep", "datadog"] as const) {
    const settings = tracing[tracer];
    if (settings !== undefined) checkAddress(settings.address ?? "", `${at}.${tracer}.address`, report);
  }
  if (tracing.lightstep !== undefined && tracing.lightstep.accessToken === undefined) {
    report.error(`${at}.lightstep.accessToken`, undefined, "an access token");
  }
  for (const [name, { literal, environment, header }] of Object.entries(tracing.customTags ?? {})) {
    if (name !== "" && (literal?.value || environment?.name || isHeaderName(header?.name ?? ""))) continue;
    const expected =
      "a tag with a name, and a value, or the name of a variable or header (without these it is left out)";
    report.warning(joinPath(`${at}.customTags`, name), name, expected);
  }
  const { sampling = 0 } = tracing;
  if (sampling < 0 || sampling > 100) report.error(`${at}.sampling`, sampling, "a percentage, 0..100");
  checkClientTls(tracing.tlsSettings, "", `${at}.tlsSettings`, report);
}

function checkKeyProvider(provider: PrivateKeyProvider | undefined, at: string, report: Findings): void {
  if (provider === undefined) return;
  const { cryptomb, qat } = provider;
  if (cryptomb === undefined && qat === undefined) report.error(at, {}, "cryptomb or qat");
  for (const [name, settings] of Object.entries({ cryptomb, qat })) {
    if (settings !== undefined && (settings.pollDelay ?? 0) === 0) {
      report.error(`${at}.${name}.pollDelay`, settings.pollDelay, "a duration that is not 0");
    }
  }
}

/** `host:port` or `[IPv6]:port`; `$(HOST_IP)` stands for an address that becomes known later. */
function checkAddress(address: string | undefined, at: string, report: Findings): void {
  if (address === undefined) return;
  const match = /^(?:\[([^\]]+)\]|([^:]+)):(\d{1,5})$/.exec(address.replace("$(HOST_IP)", "127.0.0.1"));
  const host = match?.[1] ?? match?.[2] ?? "";
  const port = Number(match?.[3] ?? "0");
  if (port < 1 || port > 65535 || (!isIpAddress(host) && hostProblem(host) !== undefined)) {
    report.error(at, address, "host:port");
  }
}

/**
 * Checks mesh networks.
 *
 * @param clusterId Name of the only registry; absent: not known.
 */
export function validateMeshNetworks(mesh: MeshNetworks, report: Findings, clusterId?: string): void {
  for (const [name, network] of Object.entries(mesh.networks)) {
    const at = joinPath("networks", name);
    network.endpoints.forEach(({ fromCidr, fromRegistry }, index) => {
      const where = `${at}.endpoints[${index}]`;
      if (fromCidr === undefined && fromRegistry === undefined) report.error(where, {}, "fromCidr or fromRegistry");
      const wrong = fromCidr === undefined ? undefined : subnetProblem(fromCidr);
      if (wrong !== undefined) report.error(`${where}.fromCidr`, fromCidr, wrong);
      if (fromRegistry !== undefined && !isDnsLabel(fromRegistry)) {
        report.error(`${where}.fromRegistry`, fromRegistry, "the name of a registry (letters, digits and inner -)");
      } else if (fromRegistry !== undefined && clusterId !== undefined && !isSameCluster(fromRegistry, clusterId)) {
        const expected = `${clusterId}, the only registry of this server`;
        report.warning(`${where}.fromRegistry`, fromRegistry, expected, "unknown-registry");
      }
    });
    network.gateways.forEach(({ registryServiceName, address, port }, index) => {
      const where = `${at}.gateways[${index}]`;
      if (registryServiceName === undefined && address === undefined) {
        report.error(where, {}, "registryServiceName or address");
      }
      if (registryServiceName !== undefined && hostProblem(registryServiceName) !== undefined) {
        report.error(`${where}.registryServiceName`, registryServiceName, "a host name");
      }
      if (address !== undefined && !isIpAddress(address) && hostProblem(address) !== undefined) {
        report.error(`${where}.address`, address, "an IP address or host name");
      }
      if (port !== 0) checkPort(port, `${where}.port`, report);
    });
  }
}
