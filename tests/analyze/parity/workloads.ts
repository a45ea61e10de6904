/**
 * Parity of findings about workloads: injection, annotations, ports, policies, Sidecars, Telemetries.
 *
 * @module
 */
import { deployment, namespace, object, ONE_FACT, type ParityCase, pod, service } from "./case.ts";

const injected = { "istio-injection": "enabled" };
const ambient = { "istio.io/dataplane-mode": "ambient" };
const running = (name: string, labels = {}, meta = {}, spec = {}) => ({
  ...pod(name, labels, meta, spec),
  status: { phase: "Running" },
});

/**
 * Objects that select the pods of one app, the same pods again, pods of two selectors, no pods, and pods of another
 * namespace.
 */
function selecting(kind: string, selector: (labels: Readonly<Record<string, string>>) => Record<string, unknown>) {
  return [
    pod("default/one", { app: "one" }),
    pod("default/two", { app: "two" }),
    pod("default/three", { app: "three", mine: "3" }),
    pod("other/one", { app: "else" }),
    object(kind, "default/alone", selector({ app: "one" })),
    object(kind, "default/bogus", selector({ app: "bogus" })),
    object(kind, "other/elsewhere", selector({ app: "one" })),
    object(kind, "default/same-1", selector({ app: "two" })),
    object(kind, "default/same-2", selector({ app: "two" })),
    object(kind, "default/overlap-1", selector({ app: "three" })),
    object(kind, "default/overlap-2", selector({ mine: "3" })),
  ];
}

/** The younger object of each pair above: at the same age, the later name. */
const YOUNGER = ["overlap-2", "same-2"] as const;
const sidecar = (labels?: Readonly<Record<string, string>>) => ({
  egress: [{ hosts: ["./*"] }],
  ...labels === undefined ? {} : { workloadSelector: { labels } },
});
const telemetry = (labels?: Readonly<Record<string, string>>) => ({
  metrics: [{ providers: [{ name: "prometheus" }] }],
  ...labels === undefined ? {} : { selector: { matchLabels: labels } },
});
const policy = (labels?: Readonly<Record<string, string>>, source?: Readonly<Record<string, unknown>>) => ({
  ...labels === undefined ? {} : { selector: { matchLabels: labels } },
  rules: [{ from: [{ source: source ?? { principals: ["cluster.local/ns/x/sa/y"] } }] }],
});

/** Cases of pods, of their makers, and of objects for pods. */
export const WORKLOADS: readonly ParityCase[] = [
  {
    about: "Sidecars whose labels no pod has, and those of one pod",
    codes: ["MSH0101", "MSH0110"],
    input: selecting("Sidecar", sidecar),
    expected: [
      "MSH0101 Sidecar default/bogus",
      "MSH0101 Sidecar other/elsewhere",
      ...YOUNGER.map((name) => `MSH0110 Sidecar default/${name}`),
    ],
    differs: ONE_FACT,
  },
  {
    about: "Telemetries whose labels no pod has, and those of one pod",
    codes: ["MSH0101", "MSH0159"],
    input: selecting("Telemetry", telemetry),
    expected: [
      "MSH0101 Telemetry default/bogus",
      "MSH0101 Telemetry other/elsewhere",
      ...YOUNGER.map((name) => `MSH0159 Telemetry default/${name}`),
    ],
    differs: ONE_FACT,
  },
  {
    about: "Sidecars and Telemetries for whole namespaces, and Sidecars in ambient mode",
    codes: ["MSH0111", "MSH0160", "MSH0167"],
    input: [
      pod("ns1/one", { app: "one" }),
      object("Sidecar", "ns1/whole", sidecar()),
      object("Sidecar", "ns1/some", sidecar({ app: "one" })),
      object("Sidecar", "ns2/one", sidecar()),
      object("Sidecar", "ns2/two", sidecar()),
      object("Telemetry", "ns1/whole", telemetry()),
      object("Telemetry", "ns1/some", telemetry({ app: "one" })),
      object("Telemetry", "ns2/one", telemetry()),
      object("Telemetry", "ns2/two", telemetry()),
      namespace("ns-ambient", ambient),
      pod("ns-ambient/one", { app: "one" }, { annotations: { "ambient.istio.io/redirection": "enabled" } }),
      object("Sidecar", "ns-ambient/whole", sidecar()),
      object("Sidecar", "ns-ambient/some", sidecar({ app: "one" })),
      namespace("ns-both", { ...ambient, ...injected }),
      object("Sidecar", "ns-both/whole", sidecar()),
      namespace("ns-rev", { ...ambient, "istio.io/rev": "canary" }),
      object("Sidecar", "ns-rev/whole", sidecar()),
    ],
    expected: [
      "MSH0111 Sidecar ns2/two",
      "MSH0160 Telemetry ns2/two",
      "MSH0167 Sidecar ns-ambient/some",
      "MSH0167 Sidecar ns-ambient/whole",
    ],
    differs: ONE_FACT,
  },
  {
    about: "policies for pods of the mesh, and the namespaces that they name",
    codes: ["MSH0101", "MSH0127"],
    mesh: { rootNamespace: "istio-system" },
    input: [
      ...["bin", "prod-bin", "bin-test"].map((name) => namespace(name, injected)),
      pod("bin/one", { app: "bin", version: "v1" }),
      pod("tunnel/one", { app: "sleep" }, { annotations: { "ambient.istio.io/redirection": "enabled" } }),
      object("AuthorizationPolicy", "bin/good", policy({ app: "bin", version: "v1" }, { namespaces: ["bin"] })),
      object("AuthorizationPolicy", "bin/whole", policy()),
      object("AuthorizationPolicy", "bin/no-pod", policy({ app: "bogus" })),
      object("AuthorizationPolicy", "empty/whole", policy()),
      object("AuthorizationPolicy", "istio-system/all", {}),
      object("AuthorizationPolicy", "istio-system/some", policy({ version: "bogus" })),
      object("AuthorizationPolicy", "tunnel/good", policy({ app: "sleep" })),
      object("AuthorizationPolicy", "tunnel/no-pod", policy({ app: "bin" })),
      ...["namespaces", "notNamespaces"].flatMap((field) => [
        object(
          "AuthorizationPolicy",
          `bin/good-${field.toLowerCase()}`,
          policy(undefined, { [field]: ["prod-*", "*-test", "*", "bin"] }),
        ),
        object(
          "AuthorizationPolicy",
          `bin/bad-${field.toLowerCase()}`,
          policy(undefined, { [field]: ["*-bogus", "bogus-*"] }),
        ),
      ]),
    ],
    expected: [
      "MSH0101 AuthorizationPolicy bin/bad-namespaces",
      "MSH0101 AuthorizationPolicy bin/bad-notnamespaces",
      "MSH0127 AuthorizationPolicy bin/no-pod",
      "MSH0127 AuthorizationPolicy empty/whole",
      "MSH0127 AuthorizationPolicy istio-system/some",
      "MSH0127 AuthorizationPolicy tunnel/no-pod",
    ],
  },
  {
    about: "access logs that no provider takes",
    codes: ["MSH0157"],
    input: [
      object("Telemetry", "istio-system/none", { accessLogging: [{}] }),
      object("Telemetry", "a/disabled", { accessLogging: [{ disabled: true }] }),
      object("Telemetry", "b/named", { accessLogging: [{ providers: [{ name: "envoy" }] }] }),
    ],
    expected: ["MSH0157 Telemetry istio-system/none"],
  },
  {
    about: "labels of namespaces that ask for injection, and running pods without proxy",
    codes: ["MSH0102", "MSH0103", "MSH0123"],
    input: [
      namespace("default", injected),
      namespace("in-ambient", ambient),
      namespace("off", { "istio-injection": "disabled" }),
      namespace("bare"),
      namespace("canary", { "istio.io/rev": "canary" }),
      namespace("busted", { ...injected, "istio.io/rev": "canary" }),
      namespace("both", { ...injected, ...ambient }),
      namespace("rev-ambient", { "istio.io/rev": "x", ...ambient }),
      namespace("off-ambient", { "istio-injection": "disabled", ...ambient }),
      running("default/with", {}, {}, {
        containers: [{ name: "app", image: "x" }, { name: "istio-proxy", image: "p" }],
      }),
      running("default/without"),
      running("default/off", { "sidecar.istio.io/inject": "false" }),
      running("default/off-annotation", {}, { annotations: { "sidecar.istio.io/inject": "false" } }),
      running("default/host", {}, {}, { hostNetwork: true }),
      running("off/without"),
      pod("default/manifest"),
    ],
    expected: [
      "MSH0102 Namespace bare",
      "MSH0103 Pod default/without",
      "MSH0123 Namespace both",
      "MSH0123 Namespace busted",
      "MSH0123 Namespace rev-ambient",
    ],
    differs: "Istio says 0103 of a pod without a status too: a manifest has no proxy before it is applied",
  },
  {
    about: "proxies whose image nothing fills in",
    codes: ["MSH0146", "MSH0147"],
    input: [
      namespace("yes", injected),
      namespace("no"),
      running("default/auto", {}, {}, { containers: [{ name: "istio-proxy", image: "auto" }] }),
      deployment("no/gateway", { istio: "ingressgateway" }, { containers: [{ name: "istio-proxy", image: "auto" }] }),
      deployment("yes/gateway", { istio: "ingressgateway" }, { containers: [{ name: "istio-proxy", image: "auto" }] }),
    ],
    expected: ["MSH0146 Deployment no/gateway", "MSH0147 Pod default/auto"],
  },
  {
    about: "the user of the proxy",
    codes: ["MSH0144"],
    input: [
      pod("a/pod", {}, {}, { securityContext: { runAsUser: 1337 } }),
      pod("a/container", {}, {}, { containers: [{ name: "app", image: "x", securityContext: { runAsUser: 1337 } }] }),
      pod("a/proxy", {}, {}, {
        containers: [{ name: "istio-proxy", image: "x", securityContext: { runAsUser: 1337 } }],
      }),
      pod("a/other", {}, {}, { securityContext: { runAsUser: 1000 } }),
      deployment("a/pod", { app: "a" }, { securityContext: { runAsUser: 1337 } }),
      deployment("a/container", { app: "b" }, {
        containers: [{ name: "app", image: "x", securityContext: { runAsUser: 1337 } }],
      }),
    ],
    expected: ["Deployment a/container", "Deployment a/pod", "Pod a/container", "Pod a/pod"].map((one) =>
      `MSH0144 ${one}`
    ),
  },
  {
    about: "names of ports, also of external names",
    codes: ["MSH0118", "MSH0150"],
    input: [
      service("a/unnamed", [{ port: 80 }]),
      service("a/odd", [{ name: "foo", port: 80 }]),
      service("a/good", [{ name: "http-web", port: 80 }, { name: "foo", port: 81, appProtocol: "http" }]),
      service("a/external-odd", [{ name: "nginx", port: 443 }], {}, { type: "ExternalName", externalName: "x.org" }),
      service("a/external-none", [{ port: 443 }], {}, { type: "ExternalName", externalName: "x.org" }),
      service("a/external-tcp", [{ name: "tcp", port: 443 }], {}, { type: "ExternalName", externalName: "x.org" }),
      service("a/external-good", [{ name: "https", port: 443 }], {}, { type: "ExternalName", externalName: "x.org" }),
    ],
    expected: ["MSH0118 Service a/odd", "MSH0118 Service a/unnamed"],
    differs: "Istio reports external names whose ports are tcp or say no protocol; here their ports are not looked at",
  },
  {
    about: "services of one Deployment that do not agree",
    codes: ["MSH0116", "MSH0137"],
    input: [
      namespace("shop", injected),
      deployment("shop/transport", { app: "transport" }),
      service("shop/transport-1", [{ name: "tcp", port: 9080, protocol: "TCP" }], { app: "transport" }),
      service("shop/transport-2", [{ name: "udp", port: 9080, protocol: "UDP" }], { app: "transport" }),
      deployment("shop/ports", { app: "ports" }),
      service("shop/ports-1", [{ name: "tcp", port: 9080, targetPort: 9080 }], { app: "ports" }),
      service("shop/ports-2", [{ name: "http", port: 9090, targetPort: 9080 }], { app: "ports" }),
      deployment("shop/agree", { app: "agree" }),
      service("shop/agree-1", [{ name: "http", port: 9080 }], { app: "agree" }),
      service("shop/agree-2", [{ name: "http", port: 9081 }], { app: "agree" }),
      service("other/far", [{ name: "http", port: 9080 }], { app: "agree" }),
      service("shop/no-selector", [{ name: "udp", port: 9080, protocol: "UDP" }]),
    ],
    expected: ["MSH0116 Deployment shop/transport", "MSH0137 Deployment shop/ports"],
  },
  {
    about: "annotations that mean nothing, stand elsewhere, have a wrong value, are old or not settled",
    codes: ["MSH0107", "MSH0108", "MSH0125", "MSH0135", "MSH0136"],
    input: [
      object("Service", "a/unknown", { ports: [{ name: "http", port: 80 }] }, {
        annotations: { "networking.istio.io/exportThree": "x", "kubernetes.io/psp": "x" },
      }),
      pod("a/wrong", {}, { annotations: { "readiness.status.sidecar.istio.io/initialDelaySeconds": "bar" } }),
      pod("a/good", {}, { annotations: { "proxy.istio.io/config": "{}", "kubernetes.io/ingress.class": "istio" } }),
      deployment("a/misplaced", { app: "m" }, {}, {
        annotations: { "sidecar.istio.io/statsInclusionPrefixes": "cluster.outbound" },
      }),
      pod("a/old", {}, { annotations: { "sidecar.istio.io/statsInclusionPrefixes": "cluster.outbound" } }),
      pod("a/alpha", {}, { annotations: { "sidecar.istio.io/proxyCPU": "1" } }),
    ],
    expected: [
      "MSH0107 Deployment a/misplaced",
      "MSH0108 Service a/unknown",
      "MSH0125 Pod a/wrong",
      "MSH0135 Pod a/old",
      "MSH0136 Pod a/alpha",
    ],
    differs: "Istio says 0135 and 0136 also of one that is misplaced or wrong: that is its first mistake, and enough",
  },
];
