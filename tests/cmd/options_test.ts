import assert from "node:assert/strict";
import { installCni } from "../../cmd/install-cni/commands.ts";
import type { InstallFlagValues } from "../../cmd/install-cni/flags.ts";
import { installOptions } from "../../cmd/install-cni/options.ts";
import { pilotAgent } from "../../cmd/pilot-agent/commands.ts";
import type { ProxyFlagValues } from "../../cmd/pilot-agent/proxy_flags.ts";
import { proxyOptions } from "../../cmd/pilot-agent/proxy_options.ts";
import { pilotDiscovery } from "../../cmd/pilot-discovery/commands.ts";
import type { DiscoveryFlagValues } from "../../cmd/pilot-discovery/discovery_flags.ts";
import { discoveryOptions } from "../../cmd/pilot-discovery/discovery_options.ts";
import { UsageError } from "../../lib/cli/command.ts";
import { type LogFlagValues, logOptions } from "../../lib/cli/log_flags.ts";
import { parseLine } from "../../lib/cli/parse.ts";
import { readSettings } from "../../lib/kernel/settings/read.ts";
import { MAX_DURATION_MS } from "../../lib/kernel/time/duration.ts";

function discovery(line: string[], env: Record<string, string> = {}) {
  const parsed = parseLine(pilotDiscovery, ["discovery", ...line]);
  return discoveryOptions(
    parsed.values as unknown as DiscoveryFlagValues,
    parsed.given,
    readSettings("pilot-discovery", env),
  );
}

function install(line: string[], env: Record<string, string> = {}) {
  const parsed = parseLine(installCni, line);
  return installOptions(parsed.values as unknown as InstallFlagValues, parsed.given, readSettings("install-cni", env));
}

function proxy(line: string[], env: Record<string, string> = {}) {
  const parsed = parseLine(pilotAgent, ["proxy", ...line]);
  return proxyOptions(parsed.values as unknown as ProxyFlagValues, readSettings("pilot-agent", env));
}

function refusal(work: () => unknown): string[] {
  try {
    work();
  } catch (error) {
    if (error instanceof UsageError) return error.message.split("\n");
    throw error;
  }
  return assert.fail("nothing was refused");
}

Deno.test("discovery without flags has the defaults", () => {
  const options = discovery([]);
  assert.deepEqual(options.grpcAddr, { host: "", port: 15010 });
  assert.deepEqual(options.introspection, { host: "127.0.0.1", port: 9876 });
  assert.deepEqual(
    [options.namespace, options.cniNamespace, options.clusterRegistriesNamespace],
    Array(3).fill("mesh-system"),
  );
  assert.equal(options.keepaliveMaxServerConnectionAge, MAX_DURATION_MS);
  assert.equal(options.configDir, undefined);
  assert.deepEqual(options.registries, ["Orch"]);
  assert.equal(options.profile, false);
});

Deno.test("the domain of shared services is refused as a cluster's domain where clusters share services under it, and only there", () => {
  const flags = ["--configDir=/x", "--domain=clusterset.local"];
  const sharing = { ENABLE_MCS_SERVICE_DISCOVERY: "true", ENABLE_MCS_HOST: "true" };
  assert.deepEqual(refusal(() => discovery(flags, sharing)), [
    'flag --domain: got "clusterset.local", expected the domain of one cluster, such as cluster.local: with ' +
    "ENABLE_MCS_HOST this one is for services that clusters share (name another domain, or leave ENABLE_MCS_HOST off)",
  ]);
  assert.equal(discovery(flags, { ...sharing, ENABLE_MCS_HOST: "false" }).domain, "clusterset.local");
  assert.equal(discovery(["--configDir=/x", "--domain=x.clusterset.local"], sharing).domain, "x.clusterset.local");
});

Deno.test("a flag of discovery that is not given has its variable as default", () => {
  const env = { POD_NAMESPACE: "ns", CLUSTER_ID: "c1", GRPC_KEEPALIVE_INTERVAL: "1m", GRPC_KEEPALIVE_TIMEOUT: "3s" };
  const options = discovery([], env);
  assert.deepEqual(
    [options.namespace, options.cniNamespace, options.clusterRegistriesNamespace, options.clusterId],
    ["ns", "ns", "ns", "c1"],
  );
  assert.deepEqual([options.keepaliveInterval, options.keepaliveTimeout], [60_000, 3000]);
  const given = discovery(["-n", "mine", "--clusterID", "c2", "--keepaliveInterval=5s", "--cniNamespace=cni"], env);
  assert.deepEqual([given.namespace, given.clusterId, given.keepaliveInterval, given.cniNamespace], [
    "mine",
    "c2",
    5000,
    "cni",
  ]);
});

Deno.test("an empty address means the port of httpAddr, or no port", () => {
  const options = discovery([
    "--grpcAddr=",
    "--httpsAddr=",
    "--monitoringAddr=",
    "--secureGRPCAddr=",
    "--ctrlz_address=*",
  ]);
  assert.deepEqual(
    [options.grpcAddr, options.httpsAddr, options.monitoringAddr, options.secureGrpcAddr],
    Array(4).fill(undefined),
  );
  assert.equal(options.introspection.host, "");
});

Deno.test("all mistakes in discovery's flags are named at once", () => {
  const problems = refusal(() =>
    discovery([
      "--grpcAddr=nope",
      "--httpAddr=",
      "--keepaliveMaxServerConnectionAge=-1s",
      "--keepaliveInterval=0s",
      "--clusterAliases=a=c1,b=c1",
      "--tlsCertFile=x",
      "--registries=",
      "--orchApiBurst=-1",
    ])
  );
  for (
    const expected of [
      /--grpcAddr: got "nope", expected host:port/,
      /--httpAddr: got ""/,
      /--keepaliveMaxServerConnectionAge: got -1s, expected 0s or more/,
      /--keepaliveInterval: got 0s, expected 1s or more/,
      /--clusterAliases: cluster c1 has aliases a, b, expected one/,
      /--caCertFile, --tlsCertFile and --tlsKeyFile: got 1, expected all three or none/,
      /--registries: got none/,
      /--orchApiBurst: got -1/,
    ]
  ) assert(problems.some((p) => expected.test(p)), String(expected));
  assert.equal(problems.length, 8);
});

Deno.test("no registry is needed where a folder has the services", () => {
  assert.deepEqual(discovery(["--registries=", "--configDir=/x"]).registries, []);
});

Deno.test("services of manifests need their folder, and exclude services of an orchestrator", () => {
  assert.deepEqual(discovery(["--registries=File", "--configDir=/x"]).registries, ["File"]);
  assert.match(refusal(() => discovery(["--registries=File"])).join(), /got File, expected --configDir beside it/);
  const both = refusal(() => discovery(["--registries=File,Kubernetes", "--configDir=/x"]));
  assert.match(both.join(), /got Orch and File, expected one of them/);
});

Deno.test("an unknown cipher suite is refused with the nearest one", () => {
  const [problem] = refusal(() => discovery(["--tls-cipher-suites", "TLS_AES_128_GCM_SHA255"]));
  assert.match(problem ?? "", /did you mean "TLS_AES_128_GCM_SHA256"\?$/);
});

Deno.test("Istio's flag names and registry names are accepted", () => {
  const options = discovery([
    "--kubeconfig",
    "f",
    "--kubernetesApiQPS=1",
    "--kubernetesApiBurst=2",
    "--registries=Kubernetes",
  ]);
  assert.deepEqual([options.orchconfig, options.orchApiQps, options.orchApiBurst, options.registries], ["f", 1, 2, [
    "Orch",
  ]]);
});

Deno.test("install-cni: a flag wins over its variable, and a variable over the flag's default", () => {
  assert.equal(install([], { REPAIR_LABEL_PODS: "true", REPAIR_NODE_NAME: "n1" }).repair.labelPods, true);
  assert.equal(install(["--repair-label-pods=false"], { REPAIR_LABEL_PODS: "true" }).repair.labelPods, false);
  assert.equal(install(["--repair-node-name", "n2"], { REPAIR_NODE_NAME: "n1" }).repair.nodeName, "n2");
  const inPlace = { REPAIR_REPAIR_PODS: "true", NODE_NAME: "n3" };
  assert.deepEqual(
    [install([], inPlace).repair, install([], { NODE_NAME: "n3" }).repair].map((r) => [r.repairPods, r.nodeName]),
    [
      [true, "n3"],
      [false, undefined],
    ],
  );
  assert.equal(install([], { ...inPlace, REPAIR_NODE_NAME: "n1" }).repair.nodeName, "n1");
  assert.equal(install(["--orchconfig-mode", "0644"]).orchconfigMode, 0o644);
});

Deno.test("install-cni: repair and chaining are on by their variables although the switches are off", () => {
  const options = install([]);
  assert.deepEqual([options.repair.enabled, options.chainedPlugin], [true, true]);
  const off = install(["--repair-enabled=false", "--chained-cni-plugin=false"]);
  assert.deepEqual([off.repair.enabled, off.chainedPlugin], [false, false]);
});

Deno.test("install-cni: every paired variable reaches the options", () => {
  const before = JSON.stringify(install([]));
  const others: Record<string, string> = {
    "cni-conf-name": "77.conf",
    "log-level": "debug",
    "cni-agent-run-dir": "/77",
    "ztunnel-uds-address": "/77",
  };
  const changes = Object.entries(installCni.flags ?? {}).map(([name, flag]) => {
    const variable = name.toUpperCase().replaceAll("-", "_");
    const switched = () => String(!readSettings("install-cni", {})[variable as "REPAIR_ENABLED"]);
    const value = flag.type === "bool" ? switched() : others[name] ?? "77";
    return [variable, JSON.stringify(install([], { [variable]: value }))] as const;
  });
  assert.deepEqual(changes.filter(([, after]) => after === before).map(([variable]) => variable), []);
});

Deno.test("install-cni: numbers out of range are refused", () => {
  const problems = refusal(() => install(["--monitoring-port", "70000", "--repair-init-container-exit-code=-1"]));
  assert.deepEqual(problems.length, 2);
});

Deno.test("install-cni: texts that cannot work are refused, all at once, by flag, value and expectation", () => {
  const problems = refusal(() =>
    install([
      "--log-level=loud",
      "--cni-agent-run-dir=run",
      "--cni-conf-name=../10-a.conf",
      "--repair-broken-pod-label-key=a/b/c",
      "--repair-broken-pod-label-value=a b",
    ])
  );
  assert.equal(problems.length, 5, problems.join("\n"));
  const ofLevel = `flag --log-level: got "loud", expected one of debug, info, warn, error, fatal, none`;
  assert(problems.includes(ofLevel), problems.join("\n"));
  for (const problem of problems) assert.match(problem, /^flag --[a-z-]+: got ".*", expected ./);
  for (const name of ["10-a", "a/10-a.conflist", "/etc/a.conf"]) {
    assert.match(refusal(() => install([], { CNI_CONF_NAME: name }))[0] ?? "", /--cni-conf-name: got/);
  }
  for (const key of ["", "-a", "a b", "A_b/x", "x/", "a".repeat(64)]) {
    assert.match(refusal(() => install([`--repair-broken-pod-label-key=${key}`]))[0] ?? "", /-label-key: got/, key);
  }
  const good = install([
    "--cni-conf-name=10-a.json",
    "--repair-broken-pod-label-key=A_b",
    "--repair-broken-pod-label-value=",
  ]);
  assert.deepEqual([good.confName, good.repair.labelKey, good.repair.labelValue], ["10-a.json", "A_b", ""]);
});

Deno.test("proxy: the domain follows the namespace, levels are read", () => {
  const options = proxy(["--proxyLogLevel", "info,misc:error,upstream:debug"], { POD_NAMESPACE: "ns" });
  assert.equal(options.domain, "ns.svc.cluster.local");
  assert.deepEqual(options.log, { level: "info", components: { misc: "error", upstream: "debug" } });
  assert.equal(proxy([]).log.level, "warning");
});

Deno.test("proxy: bad levels and numbers are named at once", () => {
  const problems = refusal(() =>
    proxy(["--proxyLogLevel=loud", "--proxyComponentLogLevel=misc", "--concurrency=-1", "--stsPort=70000"])
  );
  assert.equal(problems.length, 4);
  assert.match(problems[0] ?? "", /--proxyComponentLogLevel: got "misc", expected component:level/);
});

Deno.test("log flags become options, a bad scope is refused by name", () => {
  const read = (line: string[]) =>
    logOptions("pilot-agent", parseLine(pilotAgent, ["wait", ...line]).values as unknown as LogFlagValues);
  const options = read(["--log_as_json", "--log_output_level=dns:debug", "--log_target=stderr", "--vklog=4"]);
  assert.equal(options.json, true);
  assert.deepEqual(options.targets, ["stderr"]);
  assert.deepEqual([...options.levels], [["dns", "debug"], ["klog", "debug"]]);
  assert.match(refusal(() => read(["--log_caller=ads,pilot"]))[0] ?? "", /--log_caller: got scope "pilot"/);
});

Deno.test("names in host names and identities are checked, and the error names the variable if the variable replaces the flag", () => {
  const flags = ["--configDir=/x", "--domain=..bad", "--clusterID=", "--cniNamespace=UPPER"];
  assert.deepEqual(refusal(() => discovery(flags, { POD_NAMESPACE: "a.b" })), [
    'POD_NAMESPACE: got "a.b", expected the name of a namespace (a-z, 0-9, -)',
    'flag --cniNamespace: got "UPPER", expected the name of a namespace (a-z, 0-9, -)',
    'flag --domain: got "..bad", expected a DNS name such as cluster.local',
    'flag --clusterID: got "", expected the name of a cluster',
  ]);
});

Deno.test("a maximum age of 0s means no maximum, and a ping more often than each second is refused", () => {
  assert.equal(discovery(["--keepaliveMaxServerConnectionAge=0s"]).keepaliveMaxServerConnectionAge, Infinity);
  const problems = refusal(() => discovery(["--keepaliveInterval=1ns", "--keepaliveTimeout=0s"]));
  assert.deepEqual(problems.map((p) => p.split(", expected ")[1]), ["1s or more", "more than 0s"]);
});
