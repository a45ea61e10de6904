/** An admitted pod starts: its agent accepts every variable and every flag of the injection. */
import assert from "node:assert/strict";
import fc from "fast-check";
import { proxyFlags, type ProxyFlagValues } from "../../cmd/pilot-agent/proxy_flags.ts";
import { proxyOptions } from "../../cmd/pilot-agent/proxy_options.ts";
import { readAppProbers } from "../../lib/config/agent_texts/app_probers.ts";
import { readApplicationScrape } from "../../lib/config/agent_texts/application_scrape.ts";
import { portClashes } from "../../lib/config/agent_texts/own_ports.ts";
import { readProxyConfig } from "../../lib/config/agent_texts/proxy_config.ts";
import { logFlags, type LogFlagValues, logOptions } from "../../lib/cli/log_flags.ts";
import { parseFlagValue } from "../../lib/cli/flag_value.ts";
import type { InjectedPod } from "../../lib/injection/pod.ts";
import { isProxy } from "../../lib/injection/sidecar/input.ts";
import { readSettings } from "../../lib/kernel/settings/read.ts";
import { inject } from "./support.ts";
import { runs } from "../properties.ts";

/** All refusals by the agent of a pod. Throws for an unreadable setting. */
function refusals({ metadata: { annotations = {} }, spec }: InjectedPod): readonly string[] {
  const proxy = [...spec.containers, ...spec.initContainers ?? []].find(isProxy);
  if (proxy === undefined) return [];
  const variables = Object.fromEntries((proxy.env ?? []).map(({ name, value }) => [name, value ?? "1"]));
  const settings = readSettings("pilot-agent", variables);
  const config = readProxyConfig({ mesh: "", meshFile: "", variable: settings.PROXY_CONFIG, annotations });
  const statusPort = config.proxy?.statusPort ?? 15020;
  const faults = [
    readAppProbers(settings.MESH_ORCH_APP_PROBERS),
    readApplicationScrape(settings.MESH_METRICS_ANNOTATIONS, statusPort),
  ].flatMap((read) => "faults" in read ? read.faults : []);
  readSettings("pilot-agent", { ...config.proxy?.proxyMetadata, ...variables });
  proxyOptions(flagsOf(proxy.args ?? [], proxyFlags) as ProxyFlagValues, settings);
  logOptions("pilot-agent", flagsOf(proxy.args ?? [], logFlags("pilot-agent")) as LogFlagValues);
  const clashes = config.proxy === undefined ? [] : portClashes({ proxy: config.proxy, settings });
  return [...config.errors, ...faults, ...clashes];
}

/** Values of a group's flags, with their defaults, by the command line. */
function flagsOf(args: readonly string[], flags: Readonly<Record<string, Parameters<typeof parseFlagValue>[0]>>) {
  return Object.fromEntries(
    Object.entries(flags).map(([name, flag]) => {
      const text = args.find((arg) => arg.startsWith(`--${name}=`))?.slice(name.length + 3);
      if (text === undefined) return [name, flag.default];
      const read = parseFlagValue(flag, text);
      return "value" in read ? [name, read.value] : assert.fail(`--${name}: ${text}: ${read.expected}`);
    }),
  );
}

const ports = fc.constantFrom("15020", "15021", "9090", "9090 ", "http-metrics", "0", "70000", "-1", "", "1e3", "0x50");
const paths = fc.constantFrom("/m", "m", "/a b", "//", "//x:y", "/%zz", "?q", "", "http://[", "/\\", "/é");
const levels = fc.constantFrom(
  ...["info", "debugg", "debug,upstream:trace", "upstream:", ":debug", "", "default:warn", "all:debug", "x:info", ","],
);
const settings = fc.constantFrom(
  ...[
    "concurrency: 2",
    "concurrency: x",
    "statusPort: 9090",
    "statusPort: 15001",
    "drainDuration: 5s",
    "drainDuration: 5",
    "a: [",
    "{}",
  ],
  ...["proxyMetadata: { DNS_AGENT_PORT: x }", "proxyMetadata: { ISTIO_META_DNS_CAPTURE: maybe }"],
  ...["proxyMetadata: { EXIT_ON_ZERO_ACTIVE_CONNECTIONS: yess }", "proxyMetadata: { MINIMUM_DRAIN_DURATION: 5x }"],
  ...["proxyMetadata: { SECRET_TTL: 24h, PROXY_CONFIG: '{' }", "proxyMetadata: { ISTIO_KUBE_APP_PROBERS: '{' }"],
  ...['proxyMetadata: { ISTIO_PROMETHEUS_ANNOTATIONS: \'{"port":"x"}\' }', "proxyMetadata: { A: '' }"],
);
const probe = fc.record({
  httpGet: fc.record({
    path: paths,
    port: fc.constantFrom<number | string>(80, 0, 70000, "web", "none", "8080", "99999999"),
    scheme: fc.constantFrom("HTTP", "HTTPS", "ftp", ""),
    host: fc.constantFrom("localhost", ""),
  }, { requiredKeys: ["port"] }),
  timeoutSeconds: fc.constantFrom(0, 1, -1),
}, { requiredKeys: ["httpGet"] });
const annotations = fc.dictionary(
  fc.constantFrom(
    ...["prometheus.io/port", "prometheus.io/path", "prometheus.io/scrape", "prometheus_io_port"],
    ...["sidecar.istio.io/logLevel", "sidecar.istio.io/componentLogLevel", "sidecar.istio.io/agentLogLevel"],
    ...["proxy.istio.io/config", "status.sidecar.istio.io/port", "sidecar.istio.io/interceptionMode"],
    ...["sidecar.istio.io/nativeSidecar", "inject.istio.io/templates", "sidecar.istio.io/bootstrapOverride"],
  ),
  fc.oneof(ports, paths, levels, settings, fc.constantFrom("true", "false", "NONE", "gateway", "grpc-agent")),
  { maxKeys: 2 },
);
const pods = fc.record({
  annotations,
  readinessProbe: fc.option(probe, { nil: undefined }),
  env: fc.array(
    fc.record({
      name: fc.constantFrom("MESH_META_X", "SECRET_TTL", "ISTIO_META_CLUSTER_ID", "MESH_METRICS_ANNOTATIONS"),
      value: fc.constantFrom("", "x", "5m", "{}"),
    }),
    { maxLength: 2 },
  ),
});

Deno.test("whatever annotations, probes and variables a pod has: it is refused, or its agent takes all that it gets", () => {
  let admitted = 0;
  fc.assert(
    fc.property(pods, ({ annotations, readinessProbe, env }) => {
      const app = { name: "app", image: "a", ports: [{ name: "web", containerPort: 80 }] };
      const result = inject({
        pod: {
          metadata: { name: "p", annotations },
          spec: {
            containers: [
              { ...app, ...(readinessProbe && { readinessProbe }) },
              ...(env.length > 0 ? [{ name: "istio-proxy", image: "auto", env }] : []),
            ],
          },
        },
      });
      if (result.kind !== "injected") return;
      admitted++;
      assert.deepEqual(refusals(result.pod), []);
    }),
    { numRuns: runs(1000) },
  );
  assert(admitted > 100, `${admitted} were admitted`);
});

Deno.test("a level of the proxy's log that is none is refused when the pod is created, by its flag", () => {
  const result = inject({
    pod: {
      metadata: { name: "p", annotations: { "sidecar.istio.io/logLevel": "debugg" } },
      spec: { containers: [{ name: "app" }] },
    },
  });
  assert(result.kind === "refused");
  assert.match(result.problems[0]!, /^container mesh-proxy: flag --proxyLogLevel: got "debugg", expected a level/);
});

Deno.test("a scrape port that is the agent's, or no number, makes no variable; the latter is a warning", () => {
  const of = (port: string) => {
    const result = inject({
      pod: {
        metadata: { name: "p", annotations: { "prometheus.io/port": port } },
        spec: { containers: [{ name: "a" }] },
      },
    });
    assert(result.kind === "injected");
    const env = result.pod.spec.containers.find(isProxy)!.env!;
    return [env.find(({ name }) => name === "MESH_METRICS_ANNOTATIONS")?.value, result.warnings.length];
  };
  assert.deepEqual(of("15020"), [undefined, 0]);
  assert.deepEqual(of("http-metrics"), [undefined, 1]);
  assert.deepEqual(of("9090 "), ['{"port":"9090"}', 0]);
});

Deno.test("a port of the agent at which the proxy listens, too, is refused when the pod is made, in each spelling", () => {
  const pod = (annotations: Record<string, string>) => ({
    metadata: { name: "a", annotations },
    spec: { containers: [{ name: "app", image: "a" }] },
  });
  const problems = (annotations: Record<string, string>) => {
    const result = inject({}, pod(annotations));
    return result.kind === "refused" ? result.problems.join("\n") : "";
  };
  const line = (text: string) => `container mesh-proxy: ${text} is there`;
  const rows: readonly (readonly [key: string, text: string, problem: string])[] = [
    ["status.sidecar.istio.io/port", "15001", line("statusPort: got 15001, expected another port: outbound traffic")],
    ["status.sidecar.mesh.io/port", "15006", line("statusPort: got 15006, expected another port: inbound traffic")],
    [
      "proxy.istio.io/config",
      "statusPort: 15000",
      line("statusPort: got 15000, expected another port: proxyAdminPort"),
    ],
    [
      "proxy.mesh.io/config",
      "proxyMetadata: { ENVOY_STATUS_PORT: '15090' }",
      line("variable PROXY_STATUS_PORT: got 15090, expected another port: variable PROXY_METRICS_PORT"),
    ],
    [
      "proxy.istio.io/config",
      "proxyAdminPort: 15021",
      line("variable PROXY_STATUS_PORT: got 15021, expected another port: proxyAdminPort"),
    ],
    ["status.sidecar.istio.io/port", "15022", ""],
    ["status.sidecar.istio.io/port", "0", ""],
    ["proxy.istio.io/config", "proxyMetadata: { ENVOY_STATUS_PORT: '0', ENVOY_PROMETHEUS_PORT: '0' }", ""],
  ];
  for (const [key, text, problem] of rows) assert.equal(problems({ [key]: text }), problem, `${key}: ${text}`);
});
