/** The certificates that a service outside the mesh may show: a real Envoy accepts or refuses real servers. */
import assert from "node:assert/strict";
import { withPorts } from "../../scripts/ports.ts";
import { Authority, type Certificate, openssl } from "../certificates.ts";
import { envoyPath, type TestEnvoy, TestMesh } from "./support/mesh.ts";
import { requestHost } from "./support/request.ts";
import { until } from "../patience.ts";

const path = envoyPath();

/** A server that answers requests over TLS. */
function tlsServer({ certificate: cert, key }: Certificate) {
  const options = { hostname: "127.0.0.1", port: 0, onListen() {}, cert, key };
  const server = Deno.serve(options, () => new Response("hello"));
  return { port: server.addr.port, [Symbol.asyncDispose]: () => server.shutdown() };
}

/** The result of a request for a host: "accepted", "refused" where Envoy gets no connection, else the answer. */
async function ask(port: number, host: string): Promise<string> {
  const response = await requestHost(port, host);
  if (typeof response === "string") return response;
  const { status, body } = response;
  const refused = status === 503 && body.includes("remote connection failure");
  return body === "hello" ? "accepted" : refused ? "refused" : `${status} ${body}`;
}

/** A service of a test, and the result of requests to the service. */
interface Case {
  readonly server: "right" | "alias" | "named";
  /** Service account of the endpoint in the service entry. */
  readonly account?: string;
  /** Service account of the workload that the service entry selects. The entry then lists no endpoint. */
  readonly selected?: string;
  /** `subjectAltNames` of the entry, and of the rule. */
  readonly entry?: readonly string[];
  readonly rule?: readonly string[];
  readonly expected: "accepted" | "refused";
}

const CASES: Readonly<Record<string, Case>> = {
  listed: { server: "right", account: "right", expected: "accepted" },
  "listed-other": { server: "right", account: "other", expected: "refused" },
  selected: { server: "right", selected: "right", expected: "accepted" },
  "selected-other": { server: "right", selected: "other", expected: "refused" },
  "under-an-alias": { server: "alias", account: "right", expected: "accepted" },
  "name-of-the-entry": { server: "named", account: "other", entry: ["server.test"], expected: "accepted" },
  "empty-rule": { server: "right", account: "other", rule: [], expected: "accepted" },
  "names-of-the-rule": { server: "right", account: "right", rule: ["server.test"], expected: "refused" },
  "names-of-the-rule-carried": { server: "named", account: "right", rule: ["server.test"], expected: "accepted" },
  "nobody-named": { server: "right", expected: "accepted" },
};

const GATEWAY = (port: number) => `
apiVersion: networking.mesh.io/v1
kind: Gateway
metadata: { name: door, namespace: demo }
spec:
  selector: { app: door }
  servers: [{ port: { number: ${port}, name: http, protocol: HTTP }, hosts: ["*"] }]
`;

function service(name: string, port: number, { account, selected, entry, rule }: Case, authorities: string): string {
  const endpoint = (of?: string) =>
    `address: 127.0.0.1, ports: { http: ${port} }${of === undefined ? "" : `, serviceAccount: ${of}`}`;
  const behind = selected === undefined
    ? `endpoints: [{ ${endpoint(account)} }]`
    : `workloadSelector: { labels: { app: ${name} } }`;
  const workload = selected === undefined ? "" : `
---
apiVersion: networking.mesh.io/v1
kind: WorkloadEntry
metadata: { name: ${name}, namespace: demo }
spec: { ${endpoint(selected)}, labels: { app: ${name} } }
`;
  return `
apiVersion: networking.mesh.io/v1
kind: ServiceEntry
metadata: { name: ${name}, namespace: demo }
spec:
  hosts: [${name}.example.com]
  location: MESH_EXTERNAL
  resolution: STATIC
  ports: [{ number: 80, name: http, protocol: HTTP }]
  subjectAltNames: ${JSON.stringify(entry ?? [])}
  ${behind}
---
apiVersion: networking.mesh.io/v1
kind: DestinationRule
metadata: { name: ${name}, namespace: demo }
spec:
  host: ${name}.example.com
  trafficPolicy:
    tls:
      mode: SIMPLE
      sni: server.test
      caCertificates: ${authorities}
      ${rule === undefined ? "" : `subjectAltNames: ${JSON.stringify(rule)}`}
---
apiVersion: networking.mesh.io/v1
kind: VirtualService
metadata: { name: ${name}, namespace: demo }
spec:
  hosts: [${name}.test]
  gateways: [door]
  http: [{ route: [{ destination: { host: ${name}.example.com } }] }]${workload}
`;
}

/** The services whose servers Envoy refused because of the names in their certificates. */
async function refusedByName(envoy: TestEnvoy): Promise<string[]> {
  const stats = await envoy.admin("stats?usedonly&filter=fail_verify_san") ?? "";
  return [...stats.matchAll(/\|\|([\w-]+)\.example\.com[;.]+ssl\.fail_verify_san: [1-9]/g)].map(([, name]) => name!)
    .sort();
}

for (const delta of [true, false]) {
  Deno.test({
    name: `${
      delta ? "delta" : "state of the world"
    }: servers are held to the accounts of their endpoints, to the names of the entry, or to those of the rule`,
    ignore: path === undefined || !openssl,
    fn: () =>
      withPorts(1, async ([port = 0]) => {
        const authority = await Authority.make("root");
        try {
          const account = "/ns/demo/sa/right";
          await using right = tlsServer(await authority.sign("right", 1, [["URI", `spiffe://mesh.test${account}`]]));
          await using alias = tlsServer(await authority.sign("alias", 1, [["URI", `spiffe://old.test${account}`]]));
          await using named = tlsServer(await authority.sign("named", 1, [["DNS", "server.test"]]));
          const ports = { right: right.port, alias: alias.port, named: named.port };
          const text = (name: string, of: Case) => service(name, ports[of.server], of, authority.file);
          const files = Object.entries(CASES).map(([name, of]) => [`${name}.yaml`, text(name, of)]);
          await using mesh = await TestMesh.start({
            files: { "gateway.yaml": GATEWAY(port), ...Object.fromEntries(files) },
            meshConfig: { trustDomain: "mesh.test", trustDomainAliases: ["old.test"] },
          });
          const identity = { name: "door", namespace: "demo", address: "127.0.0.1", labels: { app: "door" } };
          const envoy = await mesh.attach(path!, { ...identity, type: "router" }, delta);
          await mesh.settled();
          await envoy.ready(port);
          for (const [name, { expected }] of Object.entries(CASES)) {
            assert.equal(await ask(port, `${name}.test`), expected, name);
          }
          const refusing = Object.keys(CASES).filter((name) => CASES[name]!.expected === "refused");
          assert.deepEqual(await refusedByName(envoy), refusing.sort());

          // Another account of an endpoint: the same server is refused from now on, or accepted.
          for (const name of ["listed", "selected"]) {
            const [account, other] = name === "listed" ? ["account", "right"] as const : ["selected", "right"] as const;
            for (const [now, expected] of [["other", "refused"], [other, "accepted"]] as const) {
              await mesh.write(`${name}.yaml`, text(name, { ...CASES[name]!, [account]: now }));
              await until(`${name} is ${expected}`, async () => await ask(port, `${name}.test`) === expected);
            }
          }
        } finally {
          await authority.remove();
        }
      }),
  });
}
