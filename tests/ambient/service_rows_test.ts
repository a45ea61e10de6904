/** Fields of services and waypoints that depend on networks, or on labels of other objects. */
import {
  EAST,
  endpoint,
  ENTRY,
  entry,
  gateway,
  HOST,
  namespace,
  NONE,
  pod,
  type Row,
  SERVICE,
  service,
  testRows,
  USE,
  vm,
  WAYPOINT,
} from "./support/rows.ts";

/** Routes of a listener that admits no namespace. */
const NOBODY = "allowedRoutes: { namespaces: { from: Selector, selector: { matchLabels: { no: one } } } }";

const ROWS: readonly Row[] = [ // Services.
  {
    title: "a service has its addresses in the network of the cluster, and so has its waypoint",
    objects: [EAST, service("", USE), gateway()],
    at: SERVICE,
    fields: {
      aliases: ["east/10.96.0.1"],
      addresses: [{ network: "east", address: "10.96.0.1" }],
      waypoint: { address: { network: "east", address: "10.96.9.9" }, hbone_mtls_port: 15008 },
    },
  },
  {
    title: "the annotation of the namespace prefers near workloads, and the field of the Service wins",
    objects: [
      service("trafficDistribution: PreferSameNode"),
      namespace("shop", "annotations: { networking.istio.io/traffic-distribution: PreferClose }"),
    ],
    at: SERVICE,
    fields: {
      load_balancing: { routing_preference: ["NETWORK", "REGION", "ZONE", "SUBZONE", "NODE"], mode: "FAILOVER" },
    },
  },
  {
    title: "the annotation of the namespace alone",
    objects: [service(), namespace("shop", "annotations: { networking.istio.io/traffic-distribution: PreferClose }")],
    at: SERVICE,
    fields: { load_balancing: { routing_preference: ["NETWORK", "REGION", "ZONE"], mode: "FAILOVER" } },
  },
  {
    title: "the annotation of a ServiceEntry",
    objects: [
      entry(
        "resolution: STATIC, endpoints: [{ address: 10.2.0.1 }]",
        "annotations: { networking.istio.io/traffic-distribution: PreferClose }",
      ),
    ],
    at: HOST,
    fields: { load_balancing: { routing_preference: ["NETWORK", "REGION", "ZONE"], mode: "FAILOVER" } },
  },
  {
    title: "publishNotReadyAddresses alone changes health alone",
    objects: [service("publishNotReadyAddresses: true")],
    at: SERVICE,
    fields: { load_balancing: { health_policy: "ALLOW_ALL" } },
  },
  {
    title: "a range has its length, of IPv6 too, and no tunnel asks for a range by one address",
    objects: [
      entry(
        'addresses: ["fd07::/64", 10.7.0.0/16, 10.8.0.1/32], resolution: STATIC, endpoints: [{ address: 10.2.0.1 }]',
      ),
    ],
    at: HOST,
    fields: {
      aliases: ["/10.8.0.1"],
      addresses: [
        { address: "fd07::", length: 64 },
        { address: "10.7.0.0", length: 16 },
        { address: "10.8.0.1" },
      ],
    },
  },
  {
    title: "of several entries of a host the oldest is the base, whatever comes first; the others add what it lacks",
    objects: [
      entry(
        "addresses: [240.0.0.2, 240.0.0.1], resolution: STATIC, subjectAltNames: [b, a]",
        'creationTimestamp: "2026-02-01T00:00:00Z"',
        "{ number: 80, targetPort: 8081, name: late, protocol: HTTP }, { number: 90, name: tcp, protocol: TCP }",
      ).replace("name: api", "name: younger"),
      entry(
        "addresses: [240.0.0.1], resolution: STATIC, subjectAltNames: [a]",
        'creationTimestamp: "2026-01-01T00:00:00Z"',
      ),
    ],
    at: HOST,
    fields: {
      name: "api",
      addresses: [{ address: "240.0.0.1" }, { address: "240.0.0.2" }],
      ports: [{ service_port: 80, target_port: 80 }, { service_port: 90, target_port: 90 }],
      subject_alt_names: ["a", "b"],
    },
  },
  {
    title: "of entries of the same age the first by name is the base",
    objects: [
      entry("resolution: STATIC, subjectAltNames: [b]").replace("name: api", "name: b"),
      entry("resolution: STATIC, subjectAltNames: [a]").replace("name: api", "name: a"),
    ],
    at: HOST,
    fields: { name: "a", subject_alt_names: ["a", "b"] },
  },
  {
    title: "a host has the addresses that are assigned to it, and none of its neighbour's",
    objects: [
      entry("resolution: DNS").replace("[api.example.com]", "[API.example.com, b.example.com]") +
      "\nstatus: { addresses: [{ host: api.example.com, value: 240.240.0.1 }, { host: b.example.com, value: 240.240.0.2 }] }",
    ],
    at: HOST,
    fields: { addresses: [{ address: "240.240.0.1" }] },
  },
  // Waypoints.
  {
    title: "a pod uses the waypoint of its namespace, if the waypoint is for workloads",
    objects: [pod(), namespace("shop", USE), gateway()],
    fields: { waypoint: WAYPOINT },
  },
  {
    title: "the namespace of a waypoint is named beside it, also at the namespace",
    objects: [
      pod(),
      namespace("shop", "labels: { istio.io/use-waypoint: gate, istio.io/use-waypoint-namespace: infra }"),
      gateway(undefined, "gate", "infra"),
    ],
    fields: { waypoint: WAYPOINT },
  },
  {
    title: "a pod's own label wins, also one whose waypoint is not there",
    objects: [pod("labels: { istio.io/use-waypoint: missing }"), namespace("shop", USE), gateway()],
    fields: { waypoint: undefined },
  },
  {
    title: "a workload entry uses the waypoint of its label",
    objects: [vm("", USE), gateway()],
    at: ENTRY,
    fields: { waypoint: WAYPOINT },
  },
  {
    title: "a workload entry opts out",
    objects: [vm("", NONE), namespace("shop", USE), gateway()],
    at: ENTRY,
    fields: { waypoint: undefined },
  },
  {
    title: "a ServiceEntry and its inline endpoints use the waypoint of the entry's label",
    objects: [entry("resolution: STATIC, endpoints: [{ address: 10.2.0.1 }]", USE), gateway()],
    at: endpoint("10.2.0.1"),
    fields: { waypoint: WAYPOINT },
  },
  {
    title: "pods of a waypoint have no waypoint, whatever their namespace asks for",
    objects: [
      pod("labels: { gateway.istio.io/managed: istio.io-mesh-controller }"),
      namespace("shop", USE),
      gateway(),
    ],
    fields: { waypoint: undefined },
  },
  {
    title: "the Service of a gateway between networks has no waypoint",
    objects: [
      service("", "labels: { gateway.istio.io/managed: istio.io-eastwest-controller }"),
      namespace("shop", USE),
      gateway(),
    ],
    at: SERVICE,
    fields: { waypoint: undefined },
  },
  {
    title: "a waypoint for services is for Services alone, and one for none is for nobody",
    objects: [service("", USE), gateway("istio.io/waypoint-for: none")],
    at: SERVICE,
    fields: { waypoint: undefined },
  },
  {
    title: "the label of the class counts where the Gateway has none",
    objects: [
      pod(USE),
      gateway(""),
      `{ apiVersion: gateway.networking.k8s.io/v1, kind: GatewayClass, spec: { controllerName: x.test/y },
  metadata: { name: istio-waypoint, labels: { istio.io/waypoint-for: workload } } }`,
    ],
    fields: { waypoint: WAYPOINT },
  },
  {
    title: "who may use a waypoint is said by the listener of its inbound binding",
    objects: [
      service("", USE),
      gateway().replace("labels:", "annotations: { ambient.istio.io/waypoint-inbound-binding: PROXY/15088 }, labels:")
        .replace("listeners: [", `listeners: [{ name: proxy, port: 15088, protocol: TCP, ${NOBODY} }, `),
    ],
    at: SERVICE,
    fields: { waypoint: undefined },
  },
  {
    title: "else by the HBONE listener at port 15008, whatever other listeners say",
    objects: [
      service("", USE),
      gateway().replace(
        "listeners: [",
        `listeners: [{ name: a, port: 15009, protocol: HBONE, ${NOBODY} }, { name: b, port: 80, protocol: HTTP, ${NOBODY} }, `,
      ),
    ],
    at: SERVICE,
    fields: { waypoint: WAYPOINT },
  },
  {
    title: "a waypoint has the first IP address of its status; other addresses are passed over",
    objects: [
      service("", USE),
      gateway().replace(
        "addresses: [",
        "addresses: [{ type: NamedAddress, value: 10.0.0.1 }, { type: IPAddress, value: soon }, ",
      ),
    ],
    at: SERVICE,
    fields: { waypoint: WAYPOINT },
  },
];

testRows(ROWS);
