/**
 * The commands `waypoint generate` and `waypoint list` as a process: the printed Gateway is one that the servers deploy,
 * and the list says of each service whether its waypoint is used.
 */
import assert from "node:assert/strict";
import { parseAllDocuments } from "yaml";
import { WAYPOINT_CLASS } from "../../lib/gateway_api/built_in_classes.ts";
import { pilotDiscovery } from "./offline.ts";

const AMBIENT = { PILOT_ENABLE_AMBIENT: "true" };
const objectsIn = (text: string) => parseAllDocuments(text).map((document) => document.toJS());

Deno.test("it prints a Gateway of the class that servers deploy, with the names, the traffic and the namespaces of the flags", async () => {
  const [plain] = objectsIn((await pilotDiscovery(["waypoint", "generate"])).out);
  assert.deepEqual(plain, {
    apiVersion: "gateway.networking.k8s.io/v1",
    kind: "Gateway",
    metadata: { name: "waypoint" },
    spec: { gatewayClassName: WAYPOINT_CLASS, listeners: [{ name: "mesh", port: 15008, protocol: "HBONE" }] },
  });
  const flags = ["--name=door", "-n=shop", "--for=all", "--from=All", "--revision=canary", "--enroll-namespace"];
  const { code, out, err } = await pilotDiscovery(["waypoint", "generate", ...flags]);
  assert.deepEqual([code, err], [0, ""]);
  const [gateway, namespace] = objectsIn(out);
  assert.deepEqual(gateway.metadata, {
    name: "door",
    namespace: "shop",
    labels: { "mesh.io/waypoint-for": "all", "mesh.io/rev": "canary" },
  });
  assert.deepEqual(gateway.spec.listeners[0].allowedRoutes, { namespaces: { from: "All" } });
  assert.deepEqual(namespace, {
    apiVersion: "v1",
    kind: "Namespace",
    metadata: { name: "shop", labels: { "mesh.io/use-waypoint": "door" } },
  });
});

Deno.test("what it prints has no finding, and services of the enrolled namespace use the waypoint", async () => {
  const { out } = await pilotDiscovery(["waypoint", "generate", "-n", "shop", "--enroll-namespace"]);
  const files = { "mesh/waypoint.yaml": out, "mesh/services.yaml": service("cart") };
  const checked = await pilotDiscovery(["check", "mesh", "--registries=File"], { files, env: AMBIENT });
  assert.deepEqual([checked.code, /0 errors, 0 warnings/.test(checked.out)], [0, true], checked.out);
  const listed = await pilotDiscovery(["waypoint", "list", "mesh"], { files, env: AMBIENT });
  assert.deepEqual([listed.code, listed.out], [
    0,
    "shop/waypoint: class mesh-waypoint, for service, without a status, taken as ready\n" +
    "  Service shop/cart  Connections of node tunnels go through the waypoint shop/waypoint.\n",
  ]);
});

Deno.test("flags that make no usable waypoint are refused, all at once", async () => {
  const cases: [string[], RegExp][] = [
    [
      ["--name=A", "--namespace=_", "--revision=R"],
      /--name: got "A".*\n.*--namespace: got "_".*\n.*--revision: got "R"/,
    ],
    [["--name=none"], /--name: got "none".*not none/],
    [["--enroll-namespace"], /--enroll-namespace: got no --namespace/],
    [["--enroll-namespace", "-n=shop", "--for=workload"], /got --for workload, expected service or all/],
    [["--from=Selector"], /--from/],
  ];
  await Promise.all(cases.map(async ([flags, message]) => {
    const { code, out, err } = await pilotDiscovery(["waypoint", "generate", ...flags]);
    assert.deepEqual({ flags, code, out }, { flags, code: 1, out: "" });
    assert.match(err, message);
  }));
});

const service = (name: string, labels = "", address = "10.96.0.1") =>
  `---
apiVersion: v1
kind: Service
metadata: { name: ${name}, namespace: shop, labels: { app: ${name}${labels} } }
spec: { clusterIP: ${address}, clusterIPs: [${address}], selector: { app: ${name} }, ports: [{ name: http, port: 80 }] }
`;
const gateway = (name: string, status: string) =>
  `---
apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: { name: ${name}, namespace: shop }
spec: { gatewayClassName: mesh-waypoint, listeners: [{ name: mesh, port: 15008, protocol: HBONE }] }
status: ${status}
`;
const use = (name: string) => `, mesh.io/use-waypoint: ${name}`;

Deno.test("the list has every waypoint with its users: used, not ready, absent and closed, passed by, unused", async () => {
  const files = {
    "mesh/a.yaml": [
      gateway("ready", "{ addresses: [{ type: Hostname, value: ready.shop.svc.cluster.local }] }"),
      gateway("slow", "{ conditions: [] }"),
      gateway("idle", "{ addresses: [{ value: 10.96.9.9 }] }"),
      service("cart", use("ready")),
      service("pods", use("ready"), "None"),
      service("late", use("slow")),
      service("lost", use("gone")),
      service("none"),
      `---
apiVersion: security.istio.io/v1
kind: AuthorizationPolicy
metadata: { name: readers, namespace: shop }
spec:
  targetRefs: [{ kind: Service, group: "", name: lost }]
  action: DENY
  rules: [{ to: [{ operation: { methods: [POST] } }] }]
`,
    ].join(""),
  };
  const { code, out } = await pilotDiscovery(["waypoint", "list", "mesh", "-o", "json"], { files, env: AMBIENT });
  assert.equal(code, 1);
  const { waypoints } = JSON.parse(out) as {
    waypoints: {
      name: string;
      state: string;
      address?: string;
      users: { object: string; way: string; text: string }[];
    }[];
  };
  assert.deepEqual(
    waypoints.map(({ name, state, address = "", users }) => [
      ...[name, state, address],
      users.map(({ object, way }) => `${object} ${way}`),
    ]),
    [
      ["shop/gone", "absent", "", ["Service shop/lost closed"]],
      ["shop/idle", "ready", "10.96.9.9", []],
      ["shop/ready", "ready", "ready.shop.svc.cluster.local", ["Service shop/cart waypoint", "Service shop/pods pods"]],
      ["shop/slow", "not ready", "", ["Service shop/late direct"]],
    ],
  );
  const [gone] = waypoints;
  assert.equal(
    gone!.users[0]!.text,
    "Gateway shop/gone does not exist. Node tunnels refuse connections, because AuthorizationPolicy shop/readers needs the waypoint.",
  );
  const text = (await pilotDiscovery(["waypoint", "list", "mesh"], { files, env: AMBIENT })).out;
  assert.match(text, /^shop\/gone: there is no such Gateway$/m);
  assert.match(
    text,
    /^shop\/idle: class mesh-waypoint, for service, ready at 10\.96\.9\.9\n {2}no service asks for it$/m,
  );
});

Deno.test("MESH_WAYPOINT_FAIL_OPEN opens in the list what it opens in a server; files without waypoints have none", async () => {
  const files = { "mesh/a.yaml": service("lost", use("gone")) };
  const run = (env: Readonly<Record<string, string>>) => pilotDiscovery(["waypoint", "list", "mesh"], { files, env });
  assert.match(
    (await run(AMBIENT)).out,
    /Gateway shop\/gone does not exist\. Connections go to the workloads directly/,
  );
  const none = await pilotDiscovery(["waypoint", "list", "mesh"], { files: { "mesh/a.yaml": service("a") } });
  assert.deepEqual([none.code, none.out], [0, "no waypoint\n"]);
  const unread = await pilotDiscovery(["waypoint", "list", "nothing"], { files });
  assert.deepEqual([unread.code, unread.out], [2, ""]);
});
