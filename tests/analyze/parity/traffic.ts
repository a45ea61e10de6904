/**
 * Parity of findings about traffic: references, routes, gateways, rules of destinations, service entries.
 *
 * @module
 */
import { entry, gateway, namespace, object, ONE_FACT, type ParityCase, pod, routes, service, to } from "./case.ts";

const REVIEWS = "reviews.example.com";
const door = { app: "door" };

/** Of VirtualServices and DestinationRules. */
export const TRAFFIC: readonly ParityCase[] = [
  {
    about: "fields that were replaced by others",
    codes: ["MSH0002"],
    input: [
      entry("shop/a", REVIEWS),
      routes("shop/old", [REVIEWS], [{ ...to(REVIEWS), fault: { delay: { fixedDelay: "1s", percent: 10 } } }]),
      routes("shop/new", ["n.example.com"], [{
        ...to(REVIEWS),
        fault: { delay: { fixedDelay: "1s", percentage: { value: 10 } } },
      }]),
    ],
    expected: ["MSH0002 VirtualService shop/old"],
  },
  {
    about: "a spec that breaks its schema, and one that is odd",
    codes: ["MSH0106", "MSH0133"],
    input: [
      entry("shop/a", REVIEWS),
      routes("shop/bad", ["b.example.com"], [{ ...to(REVIEWS), timeout: "soon" }]),
      object("Sidecar", "shop/odd", { egress: [{ hosts: ["./*", "./x.example.com"] }] }),
      routes("shop/good", [REVIEWS], [to(REVIEWS)]),
    ],
    expected: ["MSH0106 VirtualService shop/bad", "MSH0133 Sidecar shop/odd"],
  },
  {
    about: "hosts of destinations and mirrors, ports of several",
    codes: ["MSH0101", "MSH0112", "MSH1101", "MSH1105"],
    input: [
      service("default/reviews", [{ name: "http", port: 9080 }]),
      service("default/two", [{ name: "http", port: 80 }, { name: "grpc", port: 81 }]),
      entry("default/out", "external.example.com"),
      entry("default/wide", "*.wide.example.com"),
      entry("other/private", "private.example.com", [{}], { exportTo: ["."] }),
      routes("default/good", ["reviews"], [to("reviews", "external.example.com", "www.wide.example.com")]),
      routes("default/other-name", ["a.example.com"], [to("reviews.default.svc.cluster.local")]),
      routes("default/bogus-host", ["b.example.com"], [to("reviews-bogus")]),
      routes("default/bogus-namespace", ["c.example.com"], [to("reviews.other.svc.cluster.local")]),
      routes("default/bogus-mirror", ["d.example.com"], [{ ...to("reviews"), mirror: { host: "reviews-bogus" } }]),
      routes("default/bogus-port", ["e.example.com"], [to({ host: "reviews", port: { number: 81 } })]),
      routes("default/no-port", ["f.example.com"], [to("two")]),
      routes("default/port", ["g.example.com"], [to({ host: "two", port: { number: 81 } })]),
      routes("default/hidden", ["h.example.com"], [to("private.example.com")], { exportTo: ["."] }),
    ],
    expected: [
      "MSH0101 VirtualService default/bogus-host",
      "MSH0101 VirtualService default/bogus-mirror",
      "MSH0101 VirtualService default/bogus-namespace",
      "MSH0112 VirtualService default/no-port",
      "MSH1101 VirtualService default/bogus-port",
      "MSH1105 VirtualService default/hidden",
    ],
    differs:
      "Istio says 0101 for a port that the service lacks and for a host that is not exported: each has its own fix",
  },
  {
    about: "subsets that no rule of the host has",
    codes: ["MSH0101"],
    input: [
      entry("default/a", REVIEWS, [{ version: "v1" }]),
      object("DestinationRule", "default/a", { host: REVIEWS, subsets: [{ name: "v1", labels: { version: "v1" } }] }),
      routes("default/good", [REVIEWS], [to({ host: REVIEWS, subset: "v1" })]),
      routes("default/bogus", ["b.example.com"], [to({ host: REVIEWS, subset: "v9" })]),
      routes("default/mirror", ["c.example.com"], [{ ...to(REVIEWS), mirror: { host: REVIEWS, subset: "v9" } }]),
    ],
    expected: ["MSH0101 VirtualService default/bogus", "MSH0101 VirtualService default/mirror"],
  },
  {
    about: "gateways that do not exist, and those without the host",
    codes: ["MSH0101", "MSH0132"],
    input: [
      entry("default/a", REVIEWS),
      gateway("default/own", door, 80, ["*.example.com"]),
      gateway("other/far", door, 81, ["default/b.example.com", "other/c.example.com"]),
      routes("default/good", ["a.example.com"], [to(REVIEWS)], { gateways: ["own", "mesh"] }),
      routes("default/bogus", ["a.example.com"], [to(REVIEWS)], { gateways: ["absent"] }),
      routes("default/cross", ["b.example.com"], [to(REVIEWS)], { gateways: ["other/far"] }),
      routes("default/cross-bad", ["c.example.com"], [to(REVIEWS)], { gateways: ["other/far"] }),
      routes("default/without", ["a.example.org"], [to(REVIEWS)], { gateways: ["own"] }),
    ],
    expected: [
      "MSH0101 VirtualService default/bogus",
      "MSH0132 VirtualService default/cross-bad",
      "MSH0132 VirtualService default/without",
    ],
    differs: "Istio says 0132 too of a gateway that does not exist: that follows from 0101",
  },
  {
    about: "hosts of several VirtualServices on sidecars",
    codes: ["MSH0109"],
    input: [
      entry("foo/a", REVIEWS),
      routes("foo/a-first", ["one.example.com"], [to(REVIEWS)]),
      routes("foo/b-second", ["one.example.com"], [to(REVIEWS)]),
      routes("foo/gateway-only", ["one.example.com"], [to(REVIEWS)], { gateways: ["door"] }),
      routes("foo/c-both", ["two.example.com"], [to(REVIEWS)], { gateways: ["door", "mesh"] }),
      routes("zoo/d-both", ["two.example.com"], [to(REVIEWS)], { gateways: ["mesh"] }),
      routes("foo/e-private", ["three.example.com"], [to(REVIEWS)], { exportTo: ["."] }),
      routes("zoo/f-private", ["three.example.com"], [to(REVIEWS)], { exportTo: ["."] }),
    ],
    expected: ["MSH0109 VirtualService foo/b-second", "MSH0109 VirtualService zoo/d-both"],
    differs: "Istio names the one in force too: it does what it says",
  },
  {
    about: "rules that earlier ones take everything from",
    codes: ["MSH0130", "MSH0131"],
    input: [
      entry("foo/a", REVIEWS),
      routes("foo/rule", ["a.example.com"], [
        { match: [{ uri: { prefix: "/api" } }], ...to(REVIEWS) },
        { match: [{ uri: { prefix: "/api" } }], redirect: { uri: "/" } },
      ]),
      routes("foo/after-all", ["b.example.com"], [to(REVIEWS), { redirect: { uri: "/" } }]),
      routes("foo/match", ["c.example.com"], [
        { match: [{ uri: { prefix: "/api" } }], ...to(REVIEWS) },
        { match: [{ uri: { prefix: "/api" } }, { uri: { prefix: "/x" } }], redirect: { uri: "/" } },
      ]),
      routes("foo/methods", ["d.example.com"], [
        { match: [{ uri: { prefix: "/api" }, method: { exact: "GET" } }], ...to(REVIEWS) },
        { match: [{ uri: { prefix: "/api" }, method: { exact: "POST" } }], redirect: { uri: "/" } },
      ]),
      object("VirtualService", "foo/tcp", {
        hosts: ["e.example.com"],
        tcp: [{ match: [{ port: 80 }], ...to(REVIEWS) }, { match: [{ port: 80 }], ...to(REVIEWS) }],
      }),
    ],
    expected: [
      "MSH0130 VirtualService foo/after-all",
      "MSH0130 VirtualService foo/rule",
      "MSH0130 VirtualService foo/tcp",
      "MSH0131 VirtualService foo/match",
      "MSH0131 VirtualService foo/rule",
      "MSH0131 VirtualService foo/tcp",
    ],
  },
  {
    about: "a gateway's route past subsets that are for sidecars",
    codes: ["MSH0140"],
    input: [
      entry("default/a", REVIEWS, [{ version: "v1" }]),
      object("DestinationRule", "default/a", { host: REVIEWS, subsets: [{ name: "v1", labels: { version: "v1" } }] }),
      gateway("default/door", door, 80, ["*"]),
      routes("default/mesh", [REVIEWS], [to({ host: REVIEWS, subset: "v1" })]),
      routes("default/past", ["a.example.com"], [to(REVIEWS)], { gateways: ["door"] }),
      routes("default/same", ["b.example.com"], [to({ host: REVIEWS, subset: "v1" })], { gateways: ["door"] }),
    ],
    expected: ["MSH0140 VirtualService default/past"],
  },
  {
    about: "claims of tokens that nothing verifies at the gateway",
    codes: ["MSH0149"],
    input: [
      pod("edge/door", door),
      gateway("default/door", door, 80, ["*"]),
      gateway("default/gate", { app: "gate" }, 81, ["*"]),
      pod("edge/gate", { app: "gate" }),
      object("RequestAuthentication", "edge/gate", {
        selector: { matchLabels: { app: "gate" } },
        jwtRules: [{ issuer: "me", jwksUri: "https://example.com/keys" }],
      }),
      ...["door", "gate"].map((name) =>
        routes(`default/${name}`, [`${name}.example.com`], [{
          match: [{ headers: { "@request.auth.claims.group": { exact: "x" } } }],
          redirect: { uri: "/" },
        }], { gateways: [name] })
      ),
    ],
    expected: ["MSH0149 VirtualService default/door"],
  },
  {
    about: "TLS of clients that verifies no server",
    codes: ["MSH0128", "MSH0129"],
    input: [
      entry("default/a", REVIEWS),
      ...([
        ["simple", { tls: { mode: "SIMPLE" } }, {}],
        ["mutual", { tls: { mode: "MUTUAL", clientCertificate: "/c", privateKey: "/k" } }, {}],
        ["with-ca", { tls: { mode: "SIMPLE", caCertificates: "/ca" } }, {}],
        ["named", { tls: { mode: "SIMPLE", credentialName: "c" } }, {}],
        ["named-for-some", { tls: { mode: "SIMPLE", credentialName: "c" } }, {
          workloadSelector: { matchLabels: { app: "x" } },
        }],
        ["open", { tls: { mode: "SIMPLE", insecureSkipVerify: true } }, {}],
        [
          "port",
          { portLevelSettings: [{ port: { number: 80 }, tls: { mode: "SIMPLE", insecureSkipVerify: true } }] },
          {},
        ],
        [
          "both",
          { tls: { mode: "SIMPLE" }, portLevelSettings: [{ port: { number: 80 }, tls: { mode: "SIMPLE" } }] },
          {},
        ],
      ] as const).map(([name, trafficPolicy, more]) =>
        object("DestinationRule", `default/${name}`, { host: REVIEWS, trafficPolicy, ...more })
      ),
    ],
    expected: ["MSH0128 DestinationRule default/open", "MSH0129 DestinationRule default/port"],
    differs: "Istio says 0128 and 0129 of rules without authorities: its proxies, too, verify by those of the system",
  },
  {
    about: "rules for hosts that do not exist, and subsets without endpoints",
    codes: ["MSH0173", "MSH0174"],
    input: [
      entry("default/a", REVIEWS, [{ version: "v1" }]),
      object("DestinationRule", "default/fake", { host: "fake.example.com" }),
      object("DestinationRule", "default/wide", { host: "*.fake.example.com" }),
      object("DestinationRule", "default/subsets", {
        host: REVIEWS,
        subsets: [{ name: "v1", labels: { version: "v1" } }, { name: "v2", labels: { version: "v2" } }],
      }),
    ],
    expected: ["MSH0173 DestinationRule default/subsets", "MSH0174 DestinationRule default/fake"],
  },
  {
    about: "TCP ports of service entries without addresses",
    codes: ["MSH0134"],
    input: [
      ...([
        ["https", { number: 443, name: "p", protocol: "HTTPS" }, {}],
        ["none", { number: 443, name: "p" }, {}],
        ["empty", { number: 443, name: "p", protocol: "" }, {}],
        ["tcp", { number: 443, name: "p", protocol: "TCP" }, {}],
        ["lower", { number: 443, name: "p", protocol: "tcp" }, {}],
        ["with-address", { number: 443, name: "p", protocol: "TCP" }, { addresses: ["10.1.0.1"] }],
      ] as const).map(([name, port, more]) =>
        object("ServiceEntry", `default/${name}`, {
          hosts: [`${name}.example.com`],
          ports: [port],
          resolution: "DNS",
          ...more,
        })
      ),
    ],
    expected: ["empty", "lower", "none", "tcp"].map((name) => `MSH0134 ServiceEntry default/${name}`),
  },
  {
    about: "service entries of one host and port with different protocols",
    codes: ["MSH0177"],
    input: [
      ...([
        ["http", "a.example.com", "HTTP", {}],
        ["https", "a.example.com", "HTTPS", {}],
        ["same-1", "b.example.com", "HTTPS", {}],
        ["same-2", "b.example.com", "https", {}],
        ["private-1", "c.example.com", "HTTP", { exportTo: ["one"] }],
        ["private-2", "c.example.com", "HTTPS", { exportTo: ["two"] }],
      ] as const).map(([name, host, protocol, more]) =>
        object("ServiceEntry", `default/${name}`, {
          hosts: [host],
          ports: [{ number: 8443, name: "p", protocol }],
          resolution: "DNS",
          ...more,
        })
      ),
    ],
    expected: ["MSH0177 ServiceEntry default/https"],
    differs: ONE_FACT,
  },
  {
    about: "the same where proxies get automatic addresses",
    codes: ["MSH0134"],
    mesh: {
      defaultConfig: { proxyMetadata: { ISTIO_META_DNS_CAPTURE: "true", ISTIO_META_DNS_AUTO_ALLOCATE: "true" } },
    },
    input: [
      object("ServiceEntry", "default/tcp", {
        hosts: ["tcp.example.com"],
        ports: [{ number: 443, name: "p", protocol: "TCP" }],
        resolution: "DNS",
      }),
    ],
    expected: [],
  },
  {
    about: "Gateways that select nothing, and ports that no service leads to",
    codes: ["MSH0101", "MSH0162"],
    input: [
      pod("edge/door", { app: "door", istio: "ingressgateway" }),
      service("edge/door", [{ name: "http", port: 80, targetPort: 8080 }, { name: "https", port: 443 }], door),
      gateway("edge/good", door, 8080, ["a.example.com"]),
      gateway("edge/service-port", door, 80, ["b.example.com"]),
      gateway("edge/bad-port", door, 8002, ["c.example.com"]),
      gateway("edge/nothing", { app: "bogus" }, 80, ["d.example.com"]),
    ],
    expected: ["MSH0101 Gateway edge/nothing", "MSH0162 Gateway edge/bad-port"],
  },
  {
    about: "Gateways that want one host, by equal selectors or one within the other",
    codes: ["MSH0145"],
    input: [
      gateway("default/alpha", door, 80, ["a.example.com"]),
      gateway("default/beta", { ...door, more: "x" }, 80, ["a.example.com"]),
      gateway("default/other-port", door, 81, ["a.example.com"]),
      gateway("default/other-host", door, 80, ["b.example.com"]),
      gateway("default/other-pods", { app: "gate" }, 80, ["a.example.com"]),
    ],
    expected: ["MSH0145 Gateway default/beta"],
    differs: ONE_FACT,
  },
  {
    about: "certificates that several Gateways serve; the wider one is told of one within it",
    codes: ["MSH0138"],
    input: [
      gateway("default/one", door, 443, ["a.example.com"], "shared"),
      gateway("default/two", door, 443, ["b.example.com"], "shared"),
      gateway("default/within", { ...door, more: "x" }, 443, ["c.example.com"], "shared"),
      gateway("default/alone", door, 443, ["d.example.com"], "own"),
      gateway("default/other-pods", { app: "gate" }, 443, ["e.example.com"], "shared"),
    ],
    expected: ["one", "two"].map((name) => `MSH0138 Gateway default/${name}`),
  },
  {
    about: "secrets of Gateways: missing, without keys, unusable",
    codes: ["MSH0101", "MSH0161"],
    input: [
      namespace("edge", { "istio-injection": "enabled" }),
      gateway("edge/absent", door, 443, ["a.example.com"], "absent"),
      gateway("edge/keys", door, 444, ["b.example.com"], "keys"),
      gateway("edge/garbage", door, 445, ["c.example.com"], "garbage"),
      object("Secret", "edge/keys", {}, {}, { stringData: { "tls.cert": "x" } }),
      object("Secret", "edge/garbage", {}, {}, { stringData: { cert: "hush", key: "hush" } }),
    ],
    expected: ["MSH0161 Gateway edge/garbage", "MSH0161 Gateway edge/keys"],
    differs: "Istio says 0101 of a secret that is not there: secrets are seldom kept beside the configuration",
  },
];
