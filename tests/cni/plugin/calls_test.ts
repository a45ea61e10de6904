/** Calls of the plugin in faked surroundings: the action for each pod, and the refusals. */
import assert from "node:assert/strict";
import fc from "fast-check";
import { readCall, versionOfInput } from "../../../lib/cni/plugin/call.ts";
import { CniError, codes, errorText } from "../../../lib/cni/plugin/protocol.ts";
import type { PodRedirection } from "../../../lib/cni/plugin/redirection.ts";
import { type CallWorld, runCall } from "../../../lib/cni/plugin/run.ts";
import { readPod } from "../../../lib/cni/pods/pod.ts";
import { PodSourceError } from "../../../lib/cni/pods/source.ts";
import { type ApiObject, injectedPod } from "../support/orch.ts";

const config = {
  cniVersion: "1.0.0",
  name: "n",
  type: "mesh-cni",
  cni_agent_run_dir: "/run/x",
  pod_namespace: "mesh-system",
};
const prevResult = {
  cniVersion: "1.0.0",
  interfaces: [{ name: "veth0" }, { name: "eth0", sandbox: "/run/netns/p" }],
  ips: [{ address: "10.1.2.3/24", interface: 1 }, { address: "fd00::0:5/64", interface: 1 }, {
    address: "10.1.2.1/24",
    interface: 0,
  }],
  more: { kept: true },
};
const addresses =
  "1: lo inet 127.0.0.1/8 scope host lo\n2: eth0 inet 10.1.2.3/24 scope global eth0\n2: eth0 inet6 fd00::5/64 scope global\n";

interface Given {
  pod?: ApiObject;
  failure?: unknown;
  command?: string;
  config?: Record<string, unknown>;
  args?: string;
  addresses?: string;
  isNode?: boolean;
  world?: Partial<CallWorld>;
  namespaceLabels?: Record<string, string>;
}

/** Runs a call. @returns its outcome */
async function call(given: Given) {
  const applied: PodRedirection[] = [];
  const said: string[] = [];
  const reported: string[] = [];
  let questions = 0;
  const args = given.args ?? "K8S_POD_NAMESPACE=shop;K8S_POD_NAME=cart-0;K8S_POD_UID=u1";
  const env = {
    CNI_COMMAND: given.command ?? "ADD",
    CNI_CONTAINERID: "c",
    CNI_NETNS: "/run/netns/p",
    CNI_IFNAME: "eth0",
    CNI_ARGS: args,
  };
  const world: CallWorld = {
    pods: () => ({
      pod: () => {
        questions++;
        if (given.failure !== undefined) return Promise.reject(given.failure);
        return Promise.resolve(given.pod === undefined ? undefined : readPod(given.pod));
      },
      namespaceLabels: () => Promise.resolve(given.namespaceLabels),
    }),
    redirector: {
      look: () => Promise.resolve({ addresses: given.addresses ?? addresses, isNode: given.isNode ?? false }),
      apply: (_netns, wanted) => Promise.resolve(applied.push(wanted)).then(() => "done"),
      check: () => Promise.resolve([]),
      obstacles: () => Promise.resolve([]),
      end: () => Promise.resolve(),
    },
    tellAgent: (_call, pod) => Promise.resolve(reported.push(pod.name)).then(() => {}),
    identityOf: () => "same",
    now: () => 0,
    sleep: () => Promise.resolve(),
    said: (outcome) => void said.push(outcome),
    ...given.world,
  };
  let out = "";
  let error: CniError | undefined;
  try {
    out = await runCall(readCall(env, JSON.stringify({ ...config, prevResult, ...given.config })), world);
  } catch (thrown) {
    if (!(thrown instanceof CniError)) throw thrown;
    error = thrown;
  }
  return { out, error, applied, said: said.join(), reported, questions };
}

function pod(more: ApiObject = {}): ApiObject {
  const made = injectedPod("shop", "cart-0", more);
  return { ...made, metadata: { ...made.metadata, uid: "u1", ...more.metadata } };
}

Deno.test("an injected pod is redirected, and the result before us goes on with every key", async () => {
  const { out, applied, error } = await call({ pod: pod() });
  assert.equal(error, undefined);
  assert.deepEqual(JSON.parse(out), prevResult);
  assert.equal(applied.length, 1);
  assert.deepEqual(applied[0]?.config.proxyUids, [1337]);
});

const passed: Record<string, Given & { why: RegExp }> = {
  "not a pod": { args: "", why: /not a pod/ },
  "an excluded namespace": { config: { exclude_namespaces: ["a", "shop"] }, why: /namespace is excluded/ },
  "the node agent itself": {
    args: "K8S_POD_NAMESPACE=mesh-system;K8S_POD_NAME=mesh-cni-node-abcde",
    why: /node agent/,
  },
  "host network": { pod: pod({ spec: { hostNetwork: true } }), why: /node's own network/ },
  "no proxy": { pod: { ...pod(), spec: { containers: [{ name: "app" }] } }, why: /no proxy container/ },
  "an init container that does it": {
    pod: pod({ spec: { initContainers: [{ name: "istio-init" }] } }),
    why: /istio-init sets up/,
  },
  "a gateway": { pod: pod({ proxy: { args: ["proxy", "router"] } }), why: /a router, not a sidecar/ },
  "a disabled proxy": { pod: pod({ proxy: { env: [{ name: "DISABLE_ENVOY", value: "true" }] } }), why: /disabled/ },
  "injection off by label over annotation": {
    pod: pod({ labels: { "sidecar.istio.io/inject": "false" }, annotations: { "sidecar.mesh.io/inject": "true" } }),
    why: /switched off/,
  },
  "interception switched off": {
    pod: pod({ annotations: { "sidecar.istio.io/interceptionMode": "NONE" } }),
    why: /interception mode is NONE/,
  },
  "injected by Istio's injector, whose plugin redirects it": {
    pod: { ...pod(), metadata: { uid: "u1", annotations: { "sidecar.istio.io/status": "{}" } } },
    why: /Istio's plugin redirects/,
  },
  "not injected": { pod: { ...pod(), metadata: { uid: "u1", annotations: {} } }, why: /not injected/ },
};
for (const [what, { why, ...given }] of Object.entries(passed)) {
  Deno.test(`${what}: passed on untouched, with the reason`, async () => {
    const { out, applied, said, error } = await call(given);
    assert.equal(error, undefined);
    assert.match(said, why);
    assert.deepEqual(applied, []);
    assert.deepEqual(JSON.parse(out), prevResult);
  });
}

Deno.test("the node agent's pod and excluded namespaces are let through without asking anyone", async () => {
  for (const given of [passed["the node agent itself"], passed["an excluded namespace"]]) {
    assert.equal((await call({ ...given, failure: new Error("asked") })).questions, 0);
  }
});

Deno.test("another pod with the agent's name, or in its namespace, is not let through", async () => {
  for (
    const args of [
      "K8S_POD_NAMESPACE=shop;K8S_POD_NAME=mesh-cni-node-abcde",
      "K8S_POD_NAMESPACE=mesh-system;K8S_POD_NAME=other",
    ]
  ) {
    const { error } = await call({ args, failure: new PodSourceError("refused", 503) });
    assert.equal(error?.code, codes.tryAgain);
  }
});

Deno.test("a native sidecar, in either spelling, is redirected with its own user", async () => {
  const sidecar = {
    name: "istio-proxy",
    restartPolicy: "Always",
    args: ["proxy", "sidecar"],
    securityContext: { runAsUser: 1500, runAsGroup: 1600 },
  };
  const native = {
    ...pod(),
    spec: { initContainers: [sidecar, { name: "istio-validation" }], containers: [{ name: "app" }] },
  };
  const { applied } = await call({ pod: native });
  assert.deepEqual([applied[0]?.config.proxyUids, applied[0]?.config.proxyGids], [[1500], [1600]]);
});

Deno.test("annotations in both spellings become redirection; the agent's ports are always left alone", async () => {
  const annotations = {
    "traffic.sidecar.istio.io/excludeInboundPorts": "8081, 8082",
    "traffic.sidecar.mesh.io/includeOutboundIPRanges": "10.0.0.0/8,fd00::/8",
    "traffic.sidecar.istio.io/excludeInterfaces": "net1",
    "sidecar.istio.io/interceptionMode": "TPROXY",
  };
  const env = [{ name: "ISTIO_META_DNS_CAPTURE", value: "true" }, { name: "MESH_DUAL_STACK", value: "true" }];
  const { applied: [wanted] } = await call({ pod: pod({ annotations, proxy: { env } }) });
  assert.deepEqual(wanted?.config.inboundPorts, {
    all: true,
    except: [8081, 8082, 15020, 15021, 15090].map((port) => ({ first: port, last: port })),
  });
  assert.deepEqual(wanted?.config.outboundRanges, { all: false, only: { 4: ["10.0.0.0/8"], 6: ["fd00::/8"] } });
  assert.deepEqual([wanted?.config.interfacesExcluded, wanted?.config.inboundMode, wanted?.dualStack], [
    ["net1"],
    "TPROXY",
    true,
  ]);
  assert.deepEqual(wanted?.config.dns, { port: 15053, all: true });
});

for (
  const [key, value, except] of [
    ["status.sidecar.mesh.io/port", "0", [15021, 15090]],
    ["status.sidecar.istio.io/port", "15030", [15030, 15021, 15090]],
    ["status.sidecar.mesh.io/port", "", [15020, 15021, 15090]],
  ] as const
) {
  Deno.test(`with ${key}: ${JSON.stringify(value)} the ports ${except.join(", ")} alone are left alone`, async () => {
    const { applied: [wanted] } = await call({ pod: pod({ annotations: { [key]: value } }) });
    const ports = except.map((port) => ({ first: port, last: port }));
    assert.deepEqual(wanted?.config.inboundPorts, { all: true, except: ports });
  });
}

Deno.test("captured DNS goes to the port of the pod's agent; a text that is no port is refused", async () => {
  const asking = (value: string) => {
    const env = [{ name: "MESH_META_DNS_CAPTURE", value: "true" }, { name: "DNS_PROXY_ADDR", value }];
    return call({ pod: pod({ proxy: { env } }) });
  };
  assert.deepEqual((await asking("localhost:5353")).applied[0]?.config.dns, { port: 5353, all: true });
  const { error, applied } = await asking("localhost:0; reboot");
  assert.equal(error?.code, codes.annotation);
  assert.match(error?.details ?? "", /DNS_PROXY_ADDR of container mesh-proxy: got .*, expected host:port/);
  assert.deepEqual(applied, []);
});

Deno.test("groups are taken by number; a name, which the plugin cannot look up, is refused with the reason", async () => {
  const asking = (value: string) => {
    const env = [{ name: "ISTIO_OUTBOUND_OWNER_GROUPS", value }];
    return call({ pod: pod({ proxy: { env } }) });
  };
  assert.deepEqual((await asking("2000,2001")).applied[0]?.config.groups, { all: false, only: [2000, 2001] });
  const { error, applied } = await asking("2000,java");
  assert.equal(error?.code, codes.annotation);
  assert.match(
    error?.details ?? "",
    /MESH_OUTBOUND_OWNER_GROUPS of container mesh-proxy: got "java", expected a group by its number: names of the workload's \/etc\/group are not known here/,
  );
  assert.deepEqual(applied, []);
});

const hostile: [string, string][] = [
  ["traffic.sidecar.mesh.io/excludeInboundPorts", "8080; iptables -F"],
  ["traffic.sidecar.istio.io/includeInboundPorts", "-1"],
  ["traffic.sidecar.istio.io/excludeOutboundPorts", "99999"],
  ["traffic.sidecar.istio.io/includeOutboundPorts", "80\n-A OUTPUT -j ACCEPT"],
  ["traffic.sidecar.istio.io/includeOutboundIPRanges", "10.0.0.0/8 -j ACCEPT"],
  ["traffic.sidecar.istio.io/excludeOutboundIPRanges", "0.0.0.0/33"],
  ["traffic.sidecar.istio.io/excludeInterfaces", "eth0 -j ACCEPT"],
  ["traffic.sidecar.istio.io/excludeInterfaces", "../../etc/passwd"],
  ["istio.io/reroute-virtual-interfaces", "$(reboot)"],
  ["traffic.sidecar.istio.io/kubevirtInterfaces", "`x`"],
  ["sidecar.istio.io/interceptionMode", "NONE; rm"],
  ["status.sidecar.mesh.io/port", "0; iptables -F"],
  ["status.sidecar.istio.io/port", "15020,8080"],
];
for (const [key, value] of hostile) {
  Deno.test(`a hostile annotation (${key}: ${JSON.stringify(value)}) is refused by name, and nothing is applied`, async () => {
    const { error, applied } = await call({ pod: pod({ annotations: { [key]: value } }) });
    assert.equal(error?.code, codes.annotation);
    assert(error?.details.includes(`annotation ${key}: got `), error?.details);
    assert(!errorText(error as CniError, "1.0.0").trimEnd().includes("\n"));
    assert.deepEqual(applied, []);
  });
}

Deno.test("any annotation is refused by type or becomes checked values, never text", async () => {
  const keys = fc.constantFrom(...hostile.map(([key]) => key));
  await fc.assert(fc.asyncProperty(keys, fc.string({ unit: "grapheme-composite" }), async (key, value) => {
    const { error, applied } = await call({ pod: pod({ annotations: { [key]: value } }) });
    if (error !== undefined) return assert.equal(error.code, codes.annotation);
    assert.doesNotMatch(JSON.stringify(applied[0]?.config), /["\w][;&|$`'\\ ]/);
  }));
});

Deno.test("several bad annotations are named at once", async () => {
  const annotations = Object.fromEntries(hostile.slice(0, 4));
  const { error } = await call({ pod: pod({ annotations }) });
  for (const key of Object.keys(annotations)) assert(error?.details.includes(key), key);
});

Deno.test("a namespace that lacks an address of the pod, or is the node's, is refused before anything is applied", async () => {
  const wrong = await call({ pod: pod(), addresses: "2: eth0 inet 10.9.9.9/24 scope global eth0\n" });
  assert.equal(wrong.error?.code, codes.wrongNamespace);
  assert.match(wrong.error?.details ?? "", /lacks 10\.1\.2\.3, \[fd00::5\]/);
  const near = await call({ pod: pod(), addresses: addresses.replace("10.1.2.3/", "10.1.2.30/") });
  assert.equal(near.error?.code, codes.wrongNamespace);
  const node = await call({ pod: pod(), isNode: true });
  assert.match(node.error?.message ?? "", /is the node's own/);
  assert.deepEqual([wrong, near, node].flatMap(({ applied }) => applied), []);
});

Deno.test("a namespace exchanged during the call is an error, so the runtime takes the pod down", async () => {
  let id = 0;
  const { error } = await call({ pod: pod(), world: { identityOf: () => String(id++) } });
  assert.equal(error?.code, codes.wrongNamespace);
});

Deno.test("fail closed: no credentials, no answer, no such pod, another pod of that name, rules refused: each an error", async () => {
  const rules = {
    look: () => Promise.resolve({ addresses, isNode: false }),
    apply: () => Promise.reject(new Error("no module")),
  };
  const rows: [string, Given, number, RegExp][] = [
    ["no credentials", { world: { pods: () => assert.fail("no file") } }, codes.tryAgain, /no credentials/],
    ["no answer", { failure: new PodSourceError("timed out", undefined) }, codes.tryAgain, /could not be looked up/],
    ["token expired", { failure: new PodSourceError("401", 401) }, codes.tryAgain, /could not be looked up/],
    ["forbidden", { failure: new PodSourceError("forbidden", 403) }, codes.io, /could not be looked up/],
    ["no such pod", {}, codes.tryAgain, /could not be looked up/],
    ["another uid", { pod: pod({ metadata: { uid: "u2" } }) }, codes.tryAgain, /could not be looked up/],
    [
      "rules refused",
      { pod: pod(), world: { redirector: rules as unknown as CallWorld["redirector"] } },
      codes.rules,
      /gets no network/,
    ],
  ];
  for (const [what, given, code, message] of rows) {
    const { error, out } = await call(given);
    assert.equal(error?.code, code, what);
    assert.match(error?.message ?? "", message);
    assert.equal(out, "", what);
  }
});

Deno.test("transient failures are asked again, refusals are not; a static pod is known by its hash", async () => {
  assert.equal((await call({ failure: new PodSourceError("busy", 503) })).questions, 7);
  assert.equal((await call({ failure: new PodSourceError("forbidden", 403) })).questions, 1);
  const mirrored = pod({
    metadata: { uid: "api", annotations: { "kubernetes.io/config.mirror": "u1", "sidecar.mesh.io/status": "" } },
  });
  assert.equal((await call({ pod: mirrored })).applied.length, 1);
});

Deno.test("a pod of the node tunnel goes to the node agent; without one it gets no network; a sidecar keeps it out", async () => {
  const plain = {
    metadata: { uid: "u1", labels: { "istio.io/dataplane-mode": "ambient" } },
    spec: { containers: [{ name: "app" }] },
  };
  const ambient = { config: { ambient_enabled: true } };
  assert.deepEqual((await call({ ...ambient, pod: plain })).reported, ["cart-0"]);
  const byNamespace = { ...plain, metadata: { uid: "u1" } };
  const namespaceLabels = { "istio.io/dataplane-mode": "ambient" };
  assert.deepEqual((await call({ ...ambient, pod: byNamespace, namespaceLabels })).reported, ["cart-0"]);
  const out = { ...plain, metadata: { uid: "u1", labels: { "istio.io/dataplane-mode": "none" } } };
  assert.deepEqual((await call({ ...ambient, pod: out, namespaceLabels })).reported, []);
  assert.deepEqual((await call({ ...ambient, pod: pod(), namespaceLabels })).reported, []);
  assert.deepEqual((await call({ pod: plain })).reported, [], "switched off");
  const refused = await call({
    ...ambient,
    pod: plain,
    world: { tellAgent: () => Promise.reject(new Error("no listener")) },
  });
  assert.equal(refused.error?.code, codes.tryAgain);
});

Deno.test("an orchestrator that does not answer costs a call seconds, however slow each question is", async () => {
  for (const [took, questions] of [[0, 7], [1000, 4], [5000, 1]] as const) {
    let now = 0;
    const world: Partial<CallWorld> = {
      now: () => now,
      sleep: (ms) => Promise.resolve(void (now += ms)),
      pods: () => ({
        pod: () => {
          now += took;
          asked++;
          return Promise.reject(new PodSourceError("no answer", undefined));
        },
        namespaceLabels: () => assert.fail(),
      }),
    };
    let asked = 0;
    const { error } = await call({ world });
    assert.deepEqual([error?.code, error?.details, asked], [codes.tryAgain, "no answer", questions]);
    assert(now <= 6000, `${now} ms`);
  }
});

Deno.test("a pod whose addresses the runtime does not give is redirected, and the missing check is logged", async () => {
  const previous = [undefined, {}, { ips: [{ address: 7 }] }, { ip4: { ip: "10.1.2.3/24" } }];
  for (const prevResult of previous) {
    const { said, applied, error } = await call({ pod: pod(), config: { prevResult } });
    assert.deepEqual([error, applied.length], [undefined, 1]);
    assert.match(said, /^redirected; done; the runtime gave no address of the pod/);
  }
  assert.doesNotMatch((await call({ pod: pod() })).said, /gave no address/);
  const node = await call({ pod: pod(), config: { prevResult: undefined }, isNode: true });
  assert.equal(node.error?.code, codes.wrongNamespace);
});

Deno.test("DEL and GC free also with a broken configuration: a refusal would keep the pod's address", async () => {
  const bad: Given[] = [
    { config: { plugin_log_level: 7, cni_agent_run_dir: "rel", exclude_namespaces: {} } },
    { config: { prevResult: [] } },
    { config: { cniVersion: "0.1.0" } },
    { args: "K8S_POD_NAMESPACE=A_B;K8S_POD_NAME=../x" },
    { args: "K8S_POD_NAMESPACE=shop" },
    { config: { "cni.dev/valid-attachments": [{ containerID: "unknown", ifname: "eth9" }, 7] } },
  ];
  for (const given of bad) {
    for (const command of ["DEL", "GC"]) {
      const { error, out } = await call({ ...given, command });
      assert.deepEqual([error, out], [undefined, ""], JSON.stringify(given));
    }
  }
  for (const given of bad.slice(0, 5)) {
    const { error, applied } = await call({ ...given, pod: pod() });
    assert(error !== undefined && applied.length === 0, JSON.stringify(given));
  }
});

Deno.test("VERSION, STATUS, DEL, GC; CHECK reports drift", async () => {
  assert.deepEqual(JSON.parse((await call({ command: "VERSION" })).out).supportedVersions, [
    "0.3.0",
    "0.3.1",
    "0.4.0",
    "1.0.0",
    "1.1.0",
  ]);
  for (const command of ["STATUS", "DEL", "GC"]) {
    const { error, out, questions } = await call({
      command,
      failure: new Error("asked"),
      config: { cniVersion: "1.1.0" },
    });
    assert.deepEqual([error, out, questions], [undefined, "", 0], command);
  }
  const redirector = (lines: string[]) => ({
    look: () => Promise.resolve({ addresses, isNode: false }),
    check: () => Promise.resolve(lines),
    obstacles: () => Promise.resolve(lines),
  } as unknown as CallWorld["redirector"]);
  assert.equal((await call({ command: "CHECK", pod: pod(), world: { redirector: redirector([]) } })).error, undefined);
  const drift = await call({
    command: "CHECK",
    pod: pod(),
    world: { redirector: redirector(["IPv4: nat: chain is missing"]) },
  });
  assert.deepEqual([drift.error?.code, drift.error?.details], [codes.drift, "IPv4: nat: chain is missing"]);
  const status = await call({
    command: "STATUS",
    config: { cniVersion: "1.1.0" },
    world: { redirector: redirector(["no tools"]) },
  });
  assert.equal(status.error?.code, codes.notAvailable);
});

Deno.test("calls that make no sense are refused with the protocol's codes", () => {
  const env = { CNI_COMMAND: "ADD", CNI_CONTAINERID: "c", CNI_NETNS: "n", CNI_IFNAME: "e" };
  const rows: [Record<string, string>, string, number, RegExp][] = [
    [{ CNI_COMMAND: "PLEASE" }, "{}", codes.badEnvironment, /expected one of ADD, CHECK, DEL/],
    [
      { CNI_COMMAND: "ADD" },
      `{"cniVersion":"1.0.0"}`,
      codes.badEnvironment,
      /ADD needs CNI_CONTAINERID, CNI_IFNAME, CNI_NETNS/,
    ],
    [env, "{", codes.badInput, /no JSON/],
    [env, "[]", codes.badInput, /no JSON object/],
    [env, `{"cniVersion":"9.9.9"}`, codes.incompatibleVersion, /got "9\.9\.9", expected one of 0\.3\.0/],
    [
      env,
      `{"cniVersion":"1.0.0","cni_agent_run_dir":"rel","exclude_namespaces":"a"}`,
      codes.badConfig,
      /configuration is wrong/,
    ],
    [
      { ...env, CNI_ARGS: "K8S_POD_NAMESPACE=../x;K8S_POD_NAME=y" },
      `{"cniVersion":"1.0.0"}`,
      codes.badEnvironment,
      /CNI_ARGS/,
    ],
  ];
  for (const [variables, input, code, message] of rows) {
    assert.throws(
      () => readCall(variables, input),
      (e) => e instanceof CniError && e.code === code && message.test(e.message),
      input,
    );
  }
  assert.equal(versionOfInput(`{"cniVersion":"0.4.0"}`), "0.4.0");
  assert.equal(versionOfInput("{"), "1.1.0");
});
