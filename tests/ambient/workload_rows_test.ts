/** Fields of workloads that depend on settings, on networks, or on labels of other objects. */
import {
  EAST,
  endpoint,
  ENTRY,
  entry,
  HOST,
  namespace,
  node,
  pod,
  type Row,
  SERVICE,
  service,
  SLICE,
  slice,
  testRows,
  vm,
} from "./support/rows.ts";

const ROWS: readonly Row[] = [
  // Identity, names and place of pods.
  {
    title: "another trust domain than cluster.local is named at pods and entries",
    objects: [pod()],
    settings: { trustDomain: () => "corp.example" },
    fields: { trust_domain: "corp.example" },
  },
  {
    title: "another cluster is named in the name, and as the workload's cluster",
    objects: [pod()],
    settings: { clusterId: "c2" },
    at: "c2//Pod/shop/cart",
    fields: { cluster_id: "c2", uid: "c2//Pod/shop/cart" },
  },
  {
    title: "the canonical name and revision have labels of their own, which come before the usual labels",
    objects: [pod(
      "labels: { app: a, version: b, app.kubernetes.io/name: c, app.kubernetes.io/version: d," +
        " service.istio.io/canonical-name: e, service.istio.io/canonical-revision: f }",
    )],
    fields: { canonical_name: "e", canonical_revision: "f" },
  },
  {
    title: "then the usual labels for applications, then the short labels",
    objects: [pod("labels: { app: a, version: b, app.kubernetes.io/name: c, app.kubernetes.io/version: d }")],
    fields: { canonical_name: "c", canonical_revision: "d" },
  },
  {
    title: "the former labels of nodes count for the locality",
    objects: [pod(), node("failure-domain.beta.kubernetes.io/region: r0, failure-domain.beta.kubernetes.io/zone: z0")],
    fields: { locality: { region: "r0", zone: "z0" } },
  },
  {
    title: "a pod's own label wins over the locality of its node",
    objects: [pod("labels: { istio-locality: r9.z9.s9 }"), node("topology.kubernetes.io/region: r1")],
    fields: { locality: { region: "r9", zone: "z9", subzone: "s9" } },
  },
  {
    title: "addresses are sent once, in one spelling, and texts that are no address are passed over",
    objects: [
      pod(
        "",
        "",
        'podIP: 10.1.0.1, podIPs: [{ ip: 10.1.0.1 }, { ip: "FD00:0:0::1" }, { ip: "fd00::1" }, { ip: pending }]',
      ),
    ],
    fields: { addresses: ["10.1.0.1", "fd00::1"] },
  },
  {
    title: "a pod that is ready but ends is unhealthy",
    objects: [pod('deletionTimestamp: "2026-01-01T00:00:00Z"')],
    fields: { status: "UNHEALTHY" },
  },
  {
    title: "a policy that selects a pod is listed at the pod",
    objects: [pod("labels: { app: cart }")],
    settings: { policies: (of, { app = "" }) => [`${of}/${app}`] },
    fields: { authorization_policies: ["shop/cart"] },
  },
  {
    title: "a pod that looks like a node tunnel in another namespace takes tunnels by its label",
    objects: [pod("labels: { app: ztunnel, networking.istio.io/tunnel: http }")],
    fields: { tunnel_protocol: "HBONE", native_tunnel: true },
  },
  {
    title: "another pod of the system namespace takes tunnels by its label",
    objects: [
      pod("labels: { app: gate, networking.istio.io/tunnel: http }").replace(
        "namespace: shop",
        "namespace: mesh-system",
      ),
    ],
    at: "Kubernetes//Pod/mesh-system/cart",
    fields: { tunnel_protocol: "HBONE", native_tunnel: true },
  },
  // The tunnel protocol: only where something listens.
  ...([
    ["a pod without annotation and label", "", undefined],
    [
      "a pod whose rules no tunnel has acknowledged",
      "annotations: { ambient.istio.io/redirection: pending }",
      undefined,
    ],
    ["a captured pod", "annotations: { ambient.istio.io/redirection: enabled }", "HBONE"],
    ["a pod with http among its tunnels", "labels: { networking.istio.io/tunnel: 'quic,http' }", "HBONE"],
    ["a pod with other tunnels alone", "labels: { networking.istio.io/tunnel: 'httpx' }", undefined],
    ["a pod with a sidecar", "annotations: { sidecar.istio.io/status: '{}' }", undefined],
    [
      "a pod of an ambient namespace that is not captured yet",
      "labels: { istio.io/dataplane-mode: ambient }",
      undefined,
    ],
  ] as const).map(([title, meta, tunnel_protocol]): Row => ({
    title: `tunnel protocol: ${title}`,
    objects: [pod(meta), namespace("shop", "labels: { istio.io/dataplane-mode: ambient }")],
    fields: { tunnel_protocol, native_tunnel: meta.includes("quic") ? true : undefined },
  })),
  {
    title: "tunnel protocol: a workload entry has it by its label",
    objects: [vm("", "labels: { networking.istio.io/tunnel: http }")],
    at: ENTRY,
    fields: { tunnel_protocol: "HBONE", native_tunnel: true },
  },
  {
    title: "tunnel protocol: an annotation of pods says nothing about a workload entry",
    objects: [vm("", "annotations: { ambient.istio.io/redirection: enabled }")],
    at: ENTRY,
    fields: { tunnel_protocol: undefined, native_tunnel: undefined },
  },
  {
    title: "tunnel protocol: an endpoint of a slice has none",
    objects: [service(), slice("{ addresses: [172.16.0.1] }")],
    at: `${SLICE}/172.16.0.1`,
    fields: { tunnel_protocol: undefined, network_mode: "HOST_NETWORK", authorization_policies: undefined },
    settings: { policies: () => ["shop/any"] },
  },
  // Workload entries and inline endpoints.
  {
    title: "an entry has the network of its field, then of its label, then of the cluster",
    objects: [EAST, vm("network: west", "labels: { topology.istio.io/network: north }")],
    at: ENTRY,
    fields: { network: "west" },
  },
  {
    title: "without the field an entry has the network of its label",
    objects: [EAST, vm("", "labels: { topology.istio.io/network: north }")],
    at: ENTRY,
    fields: { network: "north" },
  },
  {
    title: "without field and label an entry has the network of the cluster",
    objects: [EAST, vm()],
    at: ENTRY,
    fields: { network: "east" },
  },
  {
    title: "an entry in another network needs no address",
    objects: [EAST, vm("address: '', network: west").replace("address: 10.3.0.1, ", "")],
    at: ENTRY,
    fields: { network: "west", addresses: undefined },
  },
  {
    title: "an entry has the labels of its object before the labels of its spec, and policies select it by both",
    objects: [vm("labels: { app: old, version: v1 }")],
    settings: { policies: (of, { app, version }) => [`${of}/${app}-${version}`] },
    at: ENTRY,
    fields: { canonical_name: "vm", canonical_revision: "v1", authorization_policies: ["shop/vm-v1"] },
  },
  {
    title: "an IPv6 address of an entry has 16 bytes",
    objects: [vm().replace("10.3.0.1", '"FD00:0::7"')],
    at: ENTRY,
    fields: { addresses: ["fd00::7"] },
  },
  {
    title: "a Service selects workload entries; the named port comes from the entry",
    objects: [service("selector: { app: vm }"), vm("ports: { web: 9000 }")],
    at: ENTRY,
    fields: { services: { [SERVICE]: { ports: [{ service_port: 80, target_port: 9000 }] } } },
  },
  {
    title: "a target that is a number is the port at a workload entry",
    objects: [service("selector: { app: vm }").replace("targetPort: web", "targetPort: 8000"), vm()],
    at: ENTRY,
    fields: { services: { [SERVICE]: { ports: [{ service_port: 80, target_port: 8000 }] } } },
  },
  {
    title: "without a target a workload entry has the port itself",
    objects: [service("selector: { app: vm }").replace(", targetPort: web", ""), vm()],
    at: ENTRY,
    fields: { services: { [SERVICE]: { ports: [{ service_port: 80, target_port: 80 }] } } },
  },
  {
    title: "a named port that the entry lacks is left out",
    objects: [service("selector: { app: vm }"), vm()],
    at: ENTRY,
    fields: { services: { [SERVICE]: {} } },
  },
  {
    title: "no Service selects workload entries without PILOT_ENABLE_ORCH_SELECT_WORKLOAD_ENTRIES",
    objects: [service("selector: { app: vm }"), vm("ports: { web: 9000 }")],
    settings: { selectWorkloadEntries: false },
    at: ENTRY,
    fields: { services: undefined },
  },
  ...[true, false].map((selectPods): Row => ({
    title: `a ServiceEntry selects ${
      selectPods ? "" : "no "
    }pods with PILOT_ENABLE_SERVICEENTRY_SELECT_PODS=${selectPods}`,
    objects: [pod("labels: { app: vm }"), entry("resolution: STATIC, workloadSelector: { labels: { app: vm } }")],
    settings: { selectPods },
    fields: { services: selectPods ? { [HOST]: { ports: [{ service_port: 80, target_port: 80 }] } } : undefined },
  })),
  {
    title: "a ServiceEntry of another namespace selects nothing here",
    objects: [
      pod("labels: { app: vm }"),
      entry("resolution: STATIC, workloadSelector: { labels: { app: vm } }").replace(
        "namespace: shop",
        "namespace: other",
      ),
    ],
    fields: { services: undefined },
  },
  {
    title: "an inline endpoint by name has the name, and its tunnel resolves it",
    objects: [entry("resolution: DNS, endpoints: [{ address: a.example.net, weight: 2 }]")],
    at: endpoint("a.example.net"),
    fields: { hostname: "a.example.net", addresses: undefined, capacity: { value: 2 } },
  },
  {
    title: "each host with DNS and without endpoints has a workload, and a wildcard has none",
    objects: [
      entry("resolution: DNS, endpoints: []").replace("[api.example.com]", "[api.example.com, B.example.com]"),
    ],
    at: endpoint("b.example.com"),
    fields: {
      hostname: "b.example.com",
      services: { "shop/b.example.com": { ports: [{ service_port: 80, target_port: 80 }] } },
    },
  },
  // Slices.
  {
    title: "an endpoint of a slice is in the network of the cluster, and on its node",
    objects: [
      EAST,
      service(),
      slice("{ addresses: [172.16.0.1], nodeName: n1 }"),
      node("topology.kubernetes.io/region: r1"),
    ],
    at: `${SLICE}/172.16.0.1`,
    fields: { network: "east", aliases: undefined, node: "n1", locality: { region: "r1" }, cluster_id: "Kubernetes" },
  },
  {
    title: "an endpoint of a slice that is not ready is unhealthy",
    objects: [service(), slice("{ addresses: [172.16.0.1], conditions: { ready: false } }")],
    at: `${SLICE}/172.16.0.1`,
    fields: { status: "UNHEALTHY" },
  },
  {
    title: "an endpoint of a slice has the IPv6 address in one spelling, and the port of the slice by name",
    objects: [
      service(),
      slice('{ addresses: ["FD02:0::1", "fd02::1"] }', "addressType: IPv6, ports: [{ name: http, port: 8443 }]"),
    ],
    at: `${SLICE}/fd02::1`,
    fields: { addresses: ["fd02::1"], services: { [SERVICE]: { ports: [{ service_port: 80, target_port: 8443 }] } } },
  },
  {
    title: "a pod that a slice names serves what the slice says, also beside another Service's selector",
    objects: [
      pod("labels: { app: cart }"),
      service(),
      slice("{ addresses: [10.1.0.1], targetRef: { kind: Pod, name: cart } }"),
      service("selector: { app: cart }").replaceAll("name: cart,", "name: sel,").replace("10.96.0.1", "10.96.0.2"),
    ],
    fields: {
      services: {
        [SERVICE]: { ports: [{ service_port: 80, target_port: 8080 }] },
        "shop/sel.shop.svc.cluster.local": { ports: [{ service_port: 80, target_port: 8081 }] },
      },
    },
  },
  {
    title: "where a Service and entries have one host, the Service's port counts for a pod, then the older entry's",
    objects: [
      pod("labels: { app: cart }"),
      service("selector: { app: cart }"),
      ...[["late", "02", 7002], ["early", "01", 7001]].map(([name, month, port]) =>
        entry(
          "resolution: STATIC, workloadSelector: { labels: { app: cart } }",
          `creationTimestamp: "2026-${month}-01T00:00:00Z"`,
          `{ number: 80, name: http, protocol: HTTP, targetPort: 7000 }, { number: 90, name: more, protocol: HTTP, targetPort: ${port} }`,
        ).replace("name: api", `name: ${name}`).replace("api.example.com", "cart.shop.svc.cluster.local")
      ),
    ],
    fields: {
      services: {
        [SERVICE]: { ports: [{ service_port: 80, target_port: 8081 }, { service_port: 90, target_port: 7001 }] },
      },
    },
  },
  {
    title: "a slice of an ExternalName puts no pod behind it",
    objects: [
      pod(),
      service("type: ExternalName, externalName: example.com"),
      slice("{ addresses: [10.1.0.1], targetRef: { kind: Pod, name: cart } }"),
    ],
    fields: { services: undefined },
  },
  {
    title: "names in a slice are no workloads",
    objects: [
      service(),
      slice(
        "{ addresses: [172.16.0.1] }, { addresses: [a.example.net] }",
        "addressType: FQDN, ports: [{ name: http, port: 80 }]",
      ),
    ],
    at: `${SLICE}/172.16.0.1`,
    fields: { addresses: ["172.16.0.1"] },
    absent: [`${SLICE}/a.example.net`],
  },
  {
    title: "an entry with DNS that selects workloads has none for its host",
    objects: [entry("resolution: DNS, workloadSelector: { labels: { app: vm } }"), vm()],
    at: ENTRY,
    fields: { services: { [HOST]: { ports: [{ service_port: 80, target_port: 80 }] } } },
    absent: [endpoint("api.example.com")],
  },
];

testRows(ROWS);
