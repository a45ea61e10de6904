/** Worlds that the random properties found: an object that looks unused, and has an effect in another way. */
import assert from "node:assert/strict";
import { EffectAnalysis } from "../../lib/effect/effect_analysis.ts";
import { unpaced } from "../../lib/kernel/time/paced.ts";
import { play, type Step } from "../discovery/random_steps.ts";
import type { Tree } from "../discovery/random_trees.ts";

const VERSIONS: Readonly<Record<string, string>> = {
  AuthorizationPolicy: "security.mesh.io/v1",
  RequestAuthentication: "security.mesh.io/v1",
  GatewayOfApi: "gateway.networking.k8s.io/v1",
};

function put(kind: string, place: string, spec: object, labels: Readonly<Record<string, string>> = {}): Step {
  const [namespace = "", name = ""] = place.split("/");
  const tree = {
    apiVersion: VERSIONS[kind] ?? "networking.mesh.io/v1",
    kind: kind === "GatewayOfApi" ? "Gateway" : kind,
    metadata: { namespace, name, labels, ...(name === "one" ? { creationTimestamp: "2024-01-01T00:00:00Z" } : {}) },
    spec,
  };
  return { do: "put", tree: tree as unknown as Tree };
}

/** The reported parts among the proxies of the random worlds. */
function unused(steps: readonly Step[]): string[] {
  const { fixture } = play(steps, true);
  const analysis = new EffectAnalysis({ object: (key) => fixture.objects.get(key) });
  analysis.changed(fixture.objects.keys());
  unpaced(analysis.steps(fixture.pipeline.translator));
  return [...analysis.findings(() => [])].map(({ place: { objects: [of], field } }) =>
    `${of?.kind} ${of?.namespace}/${of?.name} ${field}`.trim()
  );
}

const ASKS: Step = {
  do: "labels",
  labels: {
    "mesh.io/use-waypoint": "one",
    "mesh.io/use-waypoint-namespace": "a",
    "mesh.io/ingress-use-waypoint": "true",
  },
};

function waypoint(from: object): Step {
  const listener = { name: "mesh", port: 15008, protocol: "HBONE", allowedRoutes: { namespaces: from } };
  return put("GatewayOfApi", "a/one", { gatewayClassName: "istio-waypoint", listeners: [listener] });
}

const OF_OTHERS = waypoint({ from: "Selector", selector: { matchLabels: { none: "such" } } });
const ON_WAYPOINT = { targetRefs: [{ group: "gateway.networking.k8s.io", kind: "Gateway", name: "one" }] };
const REFUSES = { ...ON_WAYPOINT, action: "DENY", rules: [{ to: [{ operation: { paths: ["/admin"] } }] }] };
const TOKENS = { ...ON_WAYPOINT, jwtRules: [{ issuer: "x", jwks: '{"keys":[]}' }] };

const toward = (host: string) => [{ destination: { host } }];

/** The steps, and what is reported. */
const CASES: Readonly<Record<string, readonly [steps: readonly Step[], parts: readonly string[]]>> = {
  "a policy of a waypoint that takes no namespace closes the services: it has an effect": [
    [ASKS, OF_OTHERS, put("AuthorizationPolicy", "a/one", REFUSES), put("RequestAuthentication", "a/two", TOKENS)],
    [],
  ],
  "the same policies where no service asks for the waypoint": [
    [OF_OTHERS, put("AuthorizationPolicy", "a/one", REFUSES), put("RequestAuthentication", "a/two", TOKENS)],
    ["AuthorizationPolicy a/one", "RequestAuthentication a/two"],
  ],
  "a RequestAuthentication without jwtRules closes nothing": [
    [ASKS, OF_OTHERS, put("RequestAuthentication", "a/one", ON_WAYPOINT)],
    ["RequestAuthentication a/one"],
  ],
  "a rule that only a waypoint has": [
    [
      ASKS,
      waypoint({ from: "Same" }),
      // The sidecars see nothing of the service.
      put("Sidecar", "mesh-system/one", { egress: [{ hosts: ["b/y.com"] }] }),
      put("VirtualService", "a/two", {
        hosts: ["served.a.com"],
        http: [
          { match: [{ sourceLabels: { app: "none" } }], route: toward("bytes.a.com") },
          { route: toward("x.com") },
          { route: toward("y.com") },
        ],
      }),
    ],
    ["VirtualService a/two spec.http[2]"],
  ],
  "an import for another port, whose service a VirtualService of another import leads elsewhere": [
    [
      { do: "join", node: { namespace: "b", address: "172.16.0.1", labels: { app: "p" } } },
      put("Sidecar", "b/one", {
        workloadSelector: { labels: { app: "p" } },
        egress: [
          { port: { number: 6379, protocol: "HTTP", name: "http" }, hosts: ["./*"] },
          { port: { number: 80, protocol: "HTTP", name: "http-80" }, hosts: ["*/bytes.a.com", "./*"] },
        ],
      }),
      put("VirtualService", "b/one", {
        hosts: ["bytes.a.com"],
        gateways: ["mesh"],
        tcp: [{ route: toward("x.com") }],
      }),
    ],
    [],
  ],
  "an entry without a host of its own that keeps the workloads of a younger entry away": [
    [
      put("WorkloadEntry", "b/two", {
        address: "172.16.0.3",
        labels: { app: "selected" },
        serviceAccount: "pay",
      }),
      {
        do: "far",
        state: {
          host: "svc.b.svc.cluster.local",
          endpoints: [{ address: "172.17.0.2", port: 8080, portName: "http", network: "n1", tlsMode: "mesh" }],
        },
      },
      put("ServiceEntry", "b/one", { hosts: ["svc.b.svc.cluster.local"] }),
      put("ServiceEntry", "b/two", {
        hosts: ["svc.b.svc.cluster.local"],
        exportTo: ["a"],
        ports: [{ number: 80, name: "p80" }],
        workloadSelector: { labels: { app: "selected" } },
      }),
    ],
    [],
  ],
};

for (const [name, [steps, parts]] of Object.entries(CASES)) {
  Deno.test(`among connected proxies, reaches no proxy: ${name}`, () => assert.deepEqual(unused(steps), parts));
}
