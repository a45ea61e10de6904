import assert from "node:assert/strict";
import { formatFinding } from "../../../lib/finding/finding.ts";
import { defaultMeshConfig, defaultProxySettings } from "../../../lib/config/mesh/merge.ts";
import { parseMeshConfig, parseMeshNetworks, parseProxySettings } from "../../../lib/config/mesh/parse.ts";

const OPTIONS = { systemNamespace: "mesh-system" };

function test(name: string, fn: () => void): void {
  Deno.test({ name, permissions: "none", fn });
}

function mesh(text: string) {
  const { value, findings } = parseMeshConfig(text, OPTIONS);
  assert.ok(value !== undefined, findings.map(formatFinding).join("\n"));
  return { mesh: value, findings };
}

test("an empty text is the default mesh", () => {
  for (const text of ["", "# nothing\n", "{}"]) {
    assert.deepEqual(mesh(text), { mesh: defaultMeshConfig(OPTIONS), findings: [] });
  }
  const { mesh: config } = mesh("");
  assert.equal(config.defaultConfig.discoveryAddress, "meshd.mesh-system.svc:15012");
  assert.equal(config.ingressClass, "mesh");
  assert.equal(config.rootNamespace, "mesh-system");
});

test("the defaults of another system namespace", () => {
  const { value } = parseMeshConfig("", { systemNamespace: "other" });
  assert.equal(value?.rootNamespace, "other");
  assert.equal(value?.defaultConfig.discoveryAddress, "meshd.other.svc:15012");
});

test("written settings are merged with the defaults, each part by its own rule", () => {
  const { mesh: config, findings } = mesh(`
enableTracing: false
accessLogFile: /dev/stdout
connectTimeout: 5s
trustDomain: example.com
trustDomainAliases: [b, a, b]
outboundTrafficPolicy: {mode: REGISTRY_ONLY}
defaultServiceExportTo: ["."]
defaultProviders: {metrics: [prometheus]}
extensionProviders:
- {name: envoy, envoyFileAccessLog: {path: /tmp/log}}
- {name: authz, envoyExtAuthzGrpc: {service: authz.default.svc.cluster.local, port: 9000, timeout: 1s}}
defaultConfig:
  proxyMetadata: {ISTIO_META_DNS_CAPTURE: "true"}
  concurrency: 0
  drainDuration: 10s
  tracing: {sampling: 50}
serviceSettings: [{settings: {clusterLocal: true}, hosts: ["*.local"]}]
meshMTLS: {minProtocolVersion: TLSV1_3}
pathNormalization: {normalization: MERGE_SLASHES}
`);
  assert.deepEqual(findings, []);
  assert.equal(config.enableTracing, false);
  assert.equal(config.connectTimeout, 5000);
  assert.deepEqual(config.trustDomainAliases, ["a", "b"]);
  assert.deepEqual(config.defaultServiceExportTo, ["."]);
  assert.deepEqual(config.defaultVirtualServiceExportTo, ["*"]);
  assert.deepEqual(config.extensionProviders.map((provider) => provider.name), [
    "prometheus",
    "stackdriver",
    "envoy",
    "authz",
  ]);
  assert.deepEqual(config.extensionProviders[2], { name: "envoy", proxyFileAccessLog: { path: "/tmp/log" } });
  assert.equal(config.defaultConfig.drainDuration, 10_000);
  assert.equal(config.defaultConfig.concurrency, 0);
  assert.equal(config.defaultConfig.statusPort, 15020);
  assert.deepEqual(config.defaultConfig.proxyMetadata, { MESH_META_DNS_CAPTURE: "true" });
});

test("a tracing service name takes the place of the default cluster name", () => {
  const { mesh: config } = mesh("defaultConfig: {tracingServiceName: CANONICAL_NAME_ONLY}");
  assert.equal(config.defaultConfig.serviceCluster, undefined);
  assert.equal(config.defaultConfig.tracingServiceName, "CANONICAL_NAME_ONLY");
});

test("unknown fields are warnings, so that a configuration of another version loads", () => {
  const { mesh: config, findings } = mesh(
    "mixerCheckServer: x\nconectTimeout: 5s\ndefaultConfig: {parentShutdownDuration: 1s}\n",
  );
  assert.equal(config.connectTimeout, 10_000);
  assert.deepEqual(findings.map(({ severity, place: { field } }) => [severity, field]), [
    ["warning", "mixerCheckServer"],
    ["warning", "conectTimeout"],
    ["warning", "defaultConfig.parentShutdownDuration"],
  ]);
  assert.match(findings[1]?.expected ?? "", /did you mean connectTimeout/);
});

test("all wrong values are reported as errors at once, and there is no result", () => {
  const { value, findings } = parseMeshConfig(
    `
proxyListenPort: 0
connectTimeout: 2h
trustDomain: ""
trustDomainAliases: ["a b"]
accessLogEncoding: XML
rootNamespace: a.b
meshMTLS: {ecdhCurves: [P-256]}
tlsDefaults: {ecdhCurves: [P-999]}
localityLbSetting: {distribute: [{from: a, to: {b: 50}}]}
serviceSettings: [{hosts: [a_b]}]
defaultConfig:
  discoveryAddress: nowhere
  drainDuration: 1500ms
  proxyAdminPort: 70000
  statusPort: 0
  controlPlaneAuthPolicy: INHERIT
  tracing: {zipkin: {address: x}, sampling: 101}
  privateKeyProvider: {cryptomb: {}}
`,
    OPTIONS,
  );
  assert.equal(value, undefined);
  assert.deepEqual(findings.filter((one) => one.severity === "error").map((one) => one.place.field).sort(), [
    "accessLogEncoding",
    "connectTimeout",
    "defaultConfig.controlPlaneAuthPolicy",
    "defaultConfig.discoveryAddress",
    "defaultConfig.drainDuration",
    "defaultConfig.privateKeyProvider.cryptomb.pollDelay",
    "defaultConfig.proxyAdminPort",
    "defaultConfig.statusPort",
    "defaultConfig.tracing.sampling",
    "defaultConfig.tracing.zipkin.address",
    "localityLbSetting.distribute[0].to",
    "meshMTLS.ecdhCurves",
    "proxyListenPort",
    "rootNamespace",
    "serviceSettings[0].hosts[0]",
    "trustDomain",
    "trustDomainAliases[0]",
  ]);
  assert.deepEqual(findings.filter((one) => one.severity === "warning").map((one) => one.place.field), [
    "defaultConfig.privateKeyProvider",
    "tlsDefaults.ecdhCurves[0]",
  ]);
});

test("a mistake in an extension provider is a warning", () => {
  const { findings } = mesh(`
extensionProviders:
- {name: a, zipkin: {service: "a b", port: 70000}}
- {name: b}
- {name: c, envoyExtAuthzHttp: {service: ns/c.example.com, port: 80, statusOnError: "999", pathPrefix: x}}
- {name: d, opentelemetry: {service: d.example.com, port: 80}}
- {name: d, opentelemetry: {service: d.example.com, port: 80, http: {path: /}, grpc: {timeout: 1s}}}
`);
  assert.deepEqual(findings.map(({ severity, place: { field } }) => `${severity} ${field}`), [
    "warning extensionProviders[4].name",
    "warning extensionProviders[3].zipkin.port",
    "warning extensionProviders[3].zipkin.service",
    "warning extensionProviders[4]",
    "warning extensionProviders[5].proxyExtAuthzHttp.statusOnError",
    "warning extensionProviders[5].proxyExtAuthzHttp.pathPrefix",
    "warning extensionProviders[6].opentelemetry",
  ]);
});

test("log formats that proxies cannot read are warnings with the reason, and so are headers whose variable is missing", () => {
  const { findings } = mesh(`
accessLogFormat: "%NO_SUCH%"
extensionProviders:
- {name: a, envoyFileAccessLog: {logFormat: {labels: {deep: {x: "100%"}}}}}
- {name: b, envoyFileAccessLog: {logFormat: {text: "%REQ_WITHOUT_QUERY(:PATH)% %%"}}}
`);
  assert.deepEqual(findings.map(({ severity, place: { field } }) => `${severity} ${field}`), [
    "warning extensionProviders[3].proxyFileAccessLog.logFormat",
    "warning accessLogFormat",
  ]);
  const headers = `
extensionProviders:
- {name: c, opentelemetry: {service: c.example.com, port: 80, http: {headers: [{name: x-key, envName: KEY}]}}}
- {name: d, zipkin: {service: c.example.com, port: 80, headers: [{name: x-other, envName: OTHER}]}}
`;
  assert.deepEqual(mesh(headers).findings, []);
  const known = parseMeshConfig(headers, { ...OPTIONS, variable: (name) => name === "KEY" ? "secret" : undefined });
  assert.deepEqual(known.findings.map(({ message }) => /"OTHER", expected.*x-other/.test(message)), [true]);
  const { findings: json } = mesh("accessLogEncoding: JSON\naccessLogFormat: '[1]'\n");
  assert.match(json[0]?.message ?? "", /not a JSON object\); the default one is used/);
});

test("a text that is not an object, is several objects, or is not YAML", () => {
  for (const text of ["[]", "5", "a: 1\n---\nb: 2", "a: [", "a: &x [*x]"]) {
    const { value, findings } = parseMeshConfig(text, OPTIONS);
    assert.equal(value, undefined, text);
    assert.ok(findings.some((problem) => problem.severity === "error"), text);
  }
});

test("settings of a proxy override the mesh's settings", () => {
  const base = defaultProxySettings(OPTIONS);
  const { value } = parseProxySettings("proxyMetadata: {A: b}\nholdApplicationUntilProxyStarts: true\n", {
    ...base,
    proxyMetadata: { C: "d" },
  });
  assert.deepEqual(value?.proxyMetadata, { C: "d", A: "b" });
  assert.equal(value?.holdApplicationUntilProxyStarts, true);
  const broken = parseProxySettings("statusPort: 70000", base);
  assert.deepEqual(broken.findings.map((problem) => problem.place.field), ["statusPort"]);
});

test("networks", () => {
  const { value, findings } = parseMeshNetworks(`
networks:
  network1:
    endpoints: [{fromRegistry: cluster1}, {fromCidr: 10.0.0.0/8}]
    gateways: [{address: 1.2.3.4, port: 15443}, {registryServiceName: gw.istio-system.svc.cluster.local, port: 15443, locality: us/a}]
  network2: {}
`);
  assert.deepEqual(findings, []);
  assert.deepEqual(value?.networks["network2"], { endpoints: [], gateways: [] });
  assert.equal(value?.networks["network1"]?.gateways[1]?.locality, "us/a");
  assert.deepEqual(parseMeshNetworks("").value, { networks: {} });
});

test("broken networks name every mistake", () => {
  const { value, findings } = parseMeshNetworks(`
networks:
  n:
    endpoints: [{fromCidr: x}, {fromRegistry: a.b}, {}]
    gateways: [{address: "a b", port: 1}, {port: 70000}, {address: 1.1.1.1}]
`);
  assert.equal(value, undefined);
  assert.deepEqual(findings.map((problem) => problem.place.field).sort(), [
    "networks.n.endpoints[0].fromCidr",
    "networks.n.endpoints[1].fromRegistry",
    "networks.n.endpoints[2]",
    "networks.n.gateways[0].address",
    "networks.n.gateways[1]",
    "networks.n.gateways[1].port",
    "networks.n.gateways[2].port",
  ]);
});

test("a registry that is not the server's own is named, and refuses nothing", () => {
  const text = `
networks:
  here: { endpoints: [{ fromRegistry: east }], gateways: [{ address: 10.0.0.1, port: 15443 }] }
  there: { endpoints: [{ fromCidr: 10.1.0.0/16 }, { fromRegistry: west }], gateways: [{ address: 10.0.0.2, port: 15443 }] }
`;
  const { value, findings } = parseMeshNetworks(text, "networks", "east");
  assert.equal(Object.keys(value?.networks ?? {}).length, 2);
  assert.deepEqual(
    findings.map(({ code, severity, place, value: written }) => [code, severity, place.field, written]),
    [["MSH0126", "warning", "networks.there.endpoints[1].fromRegistry", '"west"']],
  );
  assert.deepEqual(parseMeshNetworks(text).findings, []);
});

Deno.test("further authorities for trust domains are PEM texts, or addresses with https or on this machine", () => {
  const { value, findings } = parseMeshConfig(
    `
caCertificates:
- {}
- {pem: "-----BEGIN CERTIFICATE-----\\nAAAA\\n-----END CERTIFICATE-----"}
- {spiffeBundleUrl: "http://partner.example/bundle"}
- {spiffeBundleUrl: partner.example}
- {spiffeBundleUrl: "https://partner.example/bundle", trustDomains: [partner.example, "a/b"]}
- {spiffeBundleUrl: "http://127.0.0.1:8080/bundle"}
`,
    OPTIONS,
  );
  assert.equal(value, undefined);
  assert.deepEqual(findings.map(({ place: { field } }) => field), [
    ...["caCertificates[0]", "caCertificates[1].pem", "caCertificates[2].spiffeBundleUrl"],
    ...["caCertificates[3].spiffeBundleUrl", "caCertificates[4].trustDomains[1]"],
  ]);
});

test("hardware for keys is a warning: the keys are used without the hardware", () => {
  for (const provider of ["cryptomb", "qat"]) {
    const { findings } = mesh(`defaultConfig: {privateKeyProvider: {${provider}: {pollDelay: 1ms}}}`);
    assert.deepEqual(findings.map(({ severity, place, value }) => [severity, place.field, value]), [
      ["warning", "defaultConfig.privateKeyProvider", `"${provider}"`],
    ]);
  }
});

test("a pattern of statistics with which proxies would not start is a warning at its place", () => {
  const proxyStatsMatcher = { inclusionPrefixes: [""], inclusionSuffixes: [".a"], inclusionRegexps: ["(", "(?i)a"] };
  const { findings } = mesh(JSON.stringify({ defaultConfig: { proxyStatsMatcher } }));
  assert.deepEqual(findings.map(({ severity, place }) => `${severity} ${place.field}`), [
    "warning defaultConfig.proxyStatsMatcher.inclusionPrefixes[0]",
    "warning defaultConfig.proxyStatsMatcher.inclusionRegexps[0]",
  ]);
});

test("a tag of spans that Envoy could not take is a warning", () => {
  const customTags = { a: { header: { name: "x y" } }, b: { header: { name: "x-b" } }, c: { literal: {} }, d: {} };
  const { findings } = mesh(JSON.stringify({ defaultConfig: { tracing: { customTags } } }));
  assert.deepEqual(findings.map(({ severity, place }) => `${severity} ${place.field}`), [
    "warning defaultConfig.tracing.customTags.a",
    "warning defaultConfig.tracing.customTags.c",
    "warning defaultConfig.tracing.customTags.d",
  ]);
});
