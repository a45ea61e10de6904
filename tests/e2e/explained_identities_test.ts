/**
 * `explain` predicts the fate of requests: random policies about identities between real Envoys. Connections are plain,
 * mutual TLS, or mutual TLS that no proxy ends.
 */
import assert from "node:assert/strict";
import fc from "fast-check";
import { explainRequest } from "../../lib/offline/explain/explain.ts";
import { onWay, worldOf } from "../../lib/offline/explain/of_mesh.ts";
import { readQuestion } from "../../lib/offline/explain/question.ts";
import { FieldPlaces } from "../../lib/offline/field_place.ts";
import { findProxy } from "../../lib/offline/find_proxy.ts";
import { proxiesOf } from "../../lib/offline/workloads.ts";
import { withPorts } from "../../scripts/ports.ts";
import { Authority, openssl } from "../certificates.ts";
import { meshOf } from "../offline/mesh_of.ts";
import { until } from "../patience.ts";
import { exchange } from "../envoy/requests.ts";
import { callerEcho } from "./support/caller_echo.ts";
import { writeIdentity } from "./support/identity_files.ts";
import { envoyPath, TestMesh } from "./support/mesh.ts";
import { runs, seedOr } from "../properties.ts";

const path = envoyPath();
const ignore = path === undefined || !openssl;

/** Workloads with a sidecar. Each workload has its own address, and all use the same ports. */
const WORKLOADS = {
  server: { namespace: "demo", address: "127.0.0.2" },
  friend: { namespace: "demo", address: "127.0.0.3" },
  guest: { namespace: "other", address: "127.0.0.4" },
} as const;
type Client = "friend" | "guest";

/** Ports of services, and ports of the server behind. */
interface Ports {
  readonly http: number;
  readonly tcp: number;
  /** Port of a workload without a proxy. */
  readonly old: number;
  readonly serverHttp: number;
  readonly serverTcp: number;
}

const document = (group: string, kind: string, namespace: string, name: string, spec: object) =>
  JSON.stringify({ apiVersion: `${group}.istio.io/v1`, kind, metadata: { name, namespace }, spec });

function world(ports: Ports, application: number): string {
  const service = (name: string, portList: object[], endpoint: object) =>
    document("networking", "ServiceEntry", "demo", name, {
      ...{ hosts: [`${name}.test`], location: "MESH_INTERNAL", resolution: "STATIC", ports: portList },
      endpoints: [endpoint],
    });
  const port = (number: number, protocol: string, targetPort: number) => ({
    ...{ number, name: `p${number}`, protocol, targetPort },
  });
  const entries = Object.entries(WORKLOADS).map(([name, { namespace, address }]) =>
    document("networking", "WorkloadEntry", namespace, name, { address, labels: { app: name }, serviceAccount: name })
  );
  const ingress = (number: number, protocol: string) => ({
    port: { number, protocol, name: `p${number}` },
    ...{ defaultEndpoint: `127.0.0.1:${application}`, bind: WORKLOADS.server.address, captureMode: "NONE" },
  });
  const sidecar = (name: keyof typeof WORKLOADS, spec: object) =>
    document("networking", "Sidecar", WORKLOADS[name].namespace, name, {
      ...{ workloadSelector: { labels: { app: name } }, ...spec },
    });
  const egress = (name: Client) =>
    [[ports.http, "HTTP"], [ports.tcp, "TCP"], [ports.old, "HTTP"]].map(([number, protocol]) => ({
      port: { number, protocol, name: `p${number}` },
      ...{ bind: WORKLOADS[name].address, captureMode: "NONE", hosts: ["demo/*"] },
    }));
  return [
    service("app", [port(ports.http, "HTTP", ports.serverHttp), port(ports.tcp, "TCP", ports.serverTcp)], {
      ...{ address: WORKLOADS.server.address, serviceAccount: "server", labels: { app: "server" } },
    }),
    service("old", [port(ports.old, "HTTP", application)], {
      ...{ address: "127.0.0.1", labels: { app: "old", "security.istio.io/tlsMode": "disabled" } },
    }),
    ...entries,
    sidecar("server", {
      egress: [{ hosts: ["~/*"] }],
      ingress: [ingress(ports.serverHttp, "HTTP"), ingress(ports.serverTcp, "TCP")],
    }),
    sidecar("friend", { egress: egress("friend") }),
    sidecar("guest", { egress: egress("guest") }),
  ].join("\n---\n");
}

const some = (...values: string[]) =>
  fc.option(fc.uniqueArray(fc.constantFrom(...values), { minLength: 1, maxLength: 2 }), { nil: undefined });
const principals = some(
  ...["cluster.local/ns/demo/sa/friend", "cluster.local/ns/other/*", "*/sa/guest", "*", "other.example/*"],
);
const namespaces = some("demo", "other", "oth*", "*");
const accounts = some("friend", "other/guest", "other/friend");
const source = fc.oneof(
  fc.record({ principals, notPrincipals: principals, namespaces, notNamespaces: namespaces }),
  fc.record({ serviceAccounts: accounts, notServiceAccounts: accounts }),
);
const rule = fc.record({
  from: fc.option(fc.array(fc.record({ source }), { minLength: 1, maxLength: 2 }), { nil: undefined }),
  to: fc.option(fc.constantFrom([{ operation: { paths: ["/a"] } }], [{ operation: { notPaths: ["/a"] } }]), {
    nil: undefined,
    freq: 2,
  }),
  when: fc.option(
    fc.constantFrom<object[]>(
      [{ key: "request.headers[x-team]", values: ["rose", "b*"] }],
      [{ key: "request.headers[x-team]", notValues: ["rose"] }],
      [{ key: "source.principal", values: ["cluster.local/ns/demo/sa/friend"] }],
      [{ key: "source.namespace", notValues: ["demo"] }],
    ),
    { nil: undefined, freq: 2 },
  ),
});
const mode = fc.constantFrom("STRICT", "STRICT", "PERMISSIVE", "DISABLE", undefined);
const anyStep = fc.record({
  policies: fc.array(
    fc.record({ action: fc.constantFrom("ALLOW", "DENY"), rules: fc.array(rule, { minLength: 1, maxLength: 2 }) }),
    { maxLength: 2 },
  ),
  ofMesh: mode,
  ofPorts: fc.record({ http: mode, tcp: mode }),
  app: fc.constantFrom<object | undefined>(
    ...[undefined, undefined, undefined, { mode: "ISTIO_MUTUAL" }, { mode: "DISABLE" }],
    { mode: "ISTIO_MUTUAL", subjectAltNames: ["spiffe://cluster.local/ns/demo/sa/server"] },
    { mode: "ISTIO_MUTUAL", subjectAltNames: ["spiffe://cluster.local/ns/demo/sa/other"] },
  ),
  old: fc.constantFrom<object | undefined>(undefined, undefined, { mode: "ISTIO_MUTUAL" }, { mode: "DISABLE" }),
});
type Step = typeof anyStep extends fc.Arbitrary<infer T> ? T : never;

function stepText({ policies, ofMesh, ofPorts, app, old }: Step, ports: Ports): string {
  const rule = (name: string, tls: object | undefined) =>
    tls === undefined
      ? []
      : [document("networking", "DestinationRule", "demo", name, { host: `${name}.test`, trafficPolicy: { tls } })];
  const peers = (namespace: string, name: string, spec: object) =>
    document("security", "PeerAuthentication", namespace, name, spec);
  const levels = [[ports.serverHttp, ofPorts.http], [ports.serverTcp, ofPorts.tcp]].filter(([, mode]) => mode)
    .map(([port, mode]) => [String(port), { mode }]);
  return [
    ...policies.map((spec, i) =>
      document("security", "AuthorizationPolicy", "demo", `p${i}`, {
        ...{ selector: { matchLabels: { app: "server" } }, ...spec },
      })
    ),
    ...ofMesh === undefined ? [] : [peers("mesh-system", "all", { mtls: { mode: ofMesh } })],
    ...levels.length === 0 ? [] : [
      peers("demo", "ports", {
        selector: { matchLabels: { app: "server" } },
        portLevelMtls: Object.fromEntries(levels),
      }),
    ],
    ...rule("app", app),
    ...rule("old", old),
  ].join("\n---\n");
}

/** A request of a client. */
interface Asked {
  readonly client: Client;
  readonly port: "http" | "tcp" | "old";
  readonly path: string;
  readonly team: readonly string[];
}

const REQUESTS: readonly Asked[] = (["friend", "guest"] as const).flatMap((client): Asked[] => [
  { client, port: "http", path: "/a", team: [] },
  { client, port: "http", path: "/b", team: ["blue", "rose"] },
  { client, port: "http", path: "/b", team: ["green"] },
  { client, port: "tcp", path: "/a", team: [] },
  { client, port: "old", path: "/a", team: ["rose"] },
]);

const hostOf = ({ port }: Asked) => port === "old" ? "old.test" : "app.test";

/** The status at the client, or `closed` without a status. */
async function seen(asked: Asked, ports: Ports): Promise<string> {
  const lines = [
    `GET ${asked.path} HTTP/1.1`,
    `Host: ${hostOf(asked)}`,
    ...asked.team.map((team) => `x-team: ${team}`),
    "Connection: close",
  ];
  const bytes = new TextEncoder().encode(`${lines.join("\r\n")}\r\n\r\n`);
  const answer = await exchange(
    WORKLOADS[asked.client].address,
    ports[asked.port],
    bytes,
    (text) => /\r\n\r\n/.test(text),
  )
    .catch(() => "");
  return /^HTTP\/1.1 (\d+)/.exec(answer)?.[1] ?? "closed";
}

type Said = Pick<Awaited<ReturnType<typeof explainRequest>>, "hops" | "end">;

/** The client's result according to an explanation. If the upstream closes a request, the client gets 503. */
function expected({ end, hops }: Said, asked: Asked): string {
  if (end.kind === "forwarded") return "200";
  if (end.kind === "answered") return String(end.status);
  assert.equal(end.kind, "closed", end.text);
  return asked.port !== "tcp" && hops.length === 2 ? "503" : "closed";
}

const question = (asked: Asked, ports: Ports) => ({
  to: `${asked.port === "tcp" ? "tcp" : "http"}://${WORKLOADS[asked.client].address}:${ports[asked.port]}${
    asked.port === "tcp" ? "" : asked.path
  }`,
  headers: [`host: ${hostOf(asked)}`, ...asked.team.map((team) => `x-team: ${team}`)],
});

/** Explains all requests with the proxies connected to the server. */
async function explainedByServer(mesh: TestMesh, ports: Ports): Promise<Said[]> {
  return await Promise.all(REQUESTS.map((asked) => {
    const { to, headers } = question(asked, ports);
    const from = `${WORKLOADS[asked.client].namespace}/${asked.client}`;
    return mesh.page<Said>(`explain?${new URLSearchParams({ from, to, headers: headers.join("\n") })}`);
  }));
}

/** Explains all requests with the files alone. As in the test, the sidecars accept no redirected connections. */
async function explained(files: Record<string, string>, ports: Ports): Promise<Said[]> {
  const mesh = meshOf(files);
  const { proxies, options } = proxiesOf(mesh);
  const bound = proxies.map((proxy) => ({
    ...proxy,
    node: { ...proxy.node, metadata: { ...proxy.node.metadata, INTERCEPTION_MODE: "NONE" } },
  }));
  const places = worldOf(mesh, bound, new FieldPlaces(() => undefined));
  return await Promise.all(REQUESTS.map((asked) => {
    const from = findProxy(`${WORKLOADS[asked.client].namespace}/${asked.client}`, bound, options).proxy;
    return explainRequest(readQuestion(question(asked, ports)), onWay(from), places);
  }));
}

Deno.test({
  name: "requests of two identities under random policies end as explain says, by the files and by the server",
  ignore,
  fn: () =>
    withPorts(5, async ([http = 0, tcp = 0, old = 0, serverHttp = 0, serverTcp = 0]) => {
      const ports = { http, tcp, old, serverHttp, serverTcp };
      const folder = await Deno.makeTempDir({ prefix: "mesh-explained-" });
      const authority = await Authority.make("mesh");
      try {
        await using app = callerEcho();
        const files = { "world.yaml": world(ports, app.port) };
        await using mesh = await TestMesh.start({ files });
        for (const [name, { namespace, address }] of Object.entries(WORKLOADS)) {
          const own = [["URI", `spiffe://cluster.local/ns/${namespace}/sa/${name}`]] as const;
          const sign = await authority.sign(name, 1, own);
          const identity = await writeIdentity(folder, name, sign, authority.certificate);
          const metadata = {
            ...identity("SERVER"),
            ...identity("CLIENT"),
            ...{ SERVICE_ACCOUNT: name },
          };
          await mesh.attach(
            path!,
            { type: "sidecar", namespace, name, address, labels: { app: name }, metadata },
            true,
          );
        }
        const steps = fc.sample(anyStep, {
          numRuns: runs(15),
          seed: seedOr(20263),
        });
        const counts = new Map<string, number>();
        for (const step of steps) {
          const text = stepText(step, ports);
          await mesh.write("step.yaml", text);
          const { why } = await mesh.page<{ why: string[] }>("live?object=Sidecar/demo/server&wait=90s");
          assert.deepEqual(why, [], text);
          const said = await explained({ ...files, "step.yaml": text }, ports);
          const wanted = said.map((one, i) => expected(one, REQUESTS[i]!));
          for (const one of wanted) counts.set(one, (counts.get(one) ?? 0) + 1);
          const ofServer = await explainedByServer(mesh, ports);
          assert.deepEqual(ofServer.map(({ end }) => end.text), said.map(({ end }) => end.text), text);
          let got: string[] = [];
          // An acknowledged listener still has to reach the worker threads.
          await until("requests end as explained", async () => {
            got = await Promise.all(REQUESTS.map((asked) => seen(asked, ports)));
            return String(got) === String(wanted);
          }).catch(() => {
            const rows = said.map(({ end }, i) => [JSON.stringify(REQUESTS[i]), end.text, got[i]]);
            assert.deepEqual(got, wanted, `${text}\n${rows.map((row) => row.join(" | ")).join("\n")}`);
          });
        }
        assert.ok(["200", "403", "503", "closed"].every((one) => counts.has(one)), JSON.stringify([...counts]));
        await mesh.settled();
      } finally {
        await authority.remove();
        await Deno.remove(folder, { recursive: true });
      }
    }),
});
