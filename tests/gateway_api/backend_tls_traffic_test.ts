/** Connections to backends of BackendTLSPolicies, from a real Envoy. */
import assert from "node:assert/strict";
import type { AddressInfo } from "node:net";
import { createServer, type TLSSocket } from "node:tls";
import type { DerivedObject } from "../../lib/config/derive/derivation.ts";
import { bytesVirtualService } from "../../lib/gateway_api/derive/bytes_rules.ts";
import { Authority, type Certificate, openssl } from "../certificates.ts";
import { envoyPath } from "../envoy/path.ts";
import { endpoint, service as meshService } from "../translate/make.ts";
import { exchange, withEnvoy } from "../translate/gateway/running_envoy.ts";
import { BackendTlsWorld, type Manifest, policy, roots, service } from "./backend_tls_world.ts";
import { gatewayOf, gatewayReader, listener, made } from "./derived_world.ts";
import { attached } from "./routes.ts";
import { authorities, clustersTo, listenersOf, tlsSecret } from "./running_listeners.ts";

const binary = envoyPath();
const ignore = binary === undefined || !openssl;

/** A case: a Service with a policy, and perhaps a rule of the user. */
interface Case {
  readonly validation: object;
  readonly rule?: object;
  /** Certificate that the backend requires of its clients, by this authority. */
  readonly requires?: string;
}

/** A backend with TLS. It answers the server name and the client's name. */
async function backend(own: Certificate, ca?: string) {
  let connections = 0;
  const server = createServer(
    { cert: own.certificate, key: own.key, ...(ca ? { ca, requestCert: true, rejectUnauthorized: true } : {}) },
    (socket: TLSSocket) => {
      socket.on("error", () => socket.destroy());
      const client = socket.getPeerCertificate()?.subject?.CN ?? "anonymous";
      socket.once("data", () => socket.end(`${socket.servername || "nameless"} ${client}`));
    },
  );
  server.on("connection", () => connections++);
  server.on("tlsClientError", () => {});
  await new Promise<void>((ready) => server.listen(0, "127.0.0.1", ready));
  const { port } = server.address() as AddressInfo;
  return { port, connections: () => connections, close: () => server.close() };
}

/** Answers of the backends of some cases, through a gateway. Connections that end without an answer are `refused`. */
async function answers(
  cases: Readonly<Record<string, Case>>,
  own: Certificate,
  manifests: readonly Manifest[],
  clientCertificate?: { readonly namespace: string; readonly name: string },
) {
  const folder = await Deno.makeTempDir();
  const names = Object.keys(cases);
  const running = await Promise.all(names.map((name) => backend(own, cases[name]!.requires)));
  try {
    const world = new BackendTlsWorld(...manifests);
    const derived: DerivedObject[] = [];
    for (const [name, { validation, rule }] of Object.entries(cases)) {
      world.put(service(name, { web: 443 }), policy(name, { hostname: "b.test", ...validation }, [`${name}:web`]));
      const metadata = { name, namespace: "edge" };
      const host = `${name}.shop.svc.cluster.local`;
      if (rule) {
        world.put({
          apiVersion: "networking.istio.io/v1",
          kind: "DestinationRule",
          metadata,
          ...{ spec: { host, ...rule } },
        });
      }
      const given = { protocol: "TCP", name } as const;
      const gateway = gatewayOf(given, clientCertificate ? { clientCertificate } : {});
      const [server] = gateway.spec.servers;
      const servers = [{ ...server!, port: { ...server!.port, number: 0 }, bind: `unix://${folder}/${name}` }];
      derived.push({ ...gateway, spec: { ...gateway.spec, servers } });
      derived.push(
        bytesVirtualService(listener(given), [
          attached("TCPRoute", { [`${name}.shop.svc.cluster.local`]: 1 }, { port: 443 }),
        ])!,
      );
    }
    const host = (name: string) => `${name}.shop.svc.cluster.local`;
    const port = { name: "web", port: 443, protocol: "HTTPS" } as const;
    const objects = [...world.objects(), ...made(...derived)];
    const read = gatewayReader(objects, {
      services: names.map((name) => meshService(host(name), { namespace: "shop", ports: [port] })),
      endpoints: Object.fromEntries(
        names.map((name, i) => [host(name), [endpoint("127.0.0.1", { port: running[i]!.port, portName: "web" })]]),
      ),
    });
    const clusters = names.flatMap((name) => clustersTo(read, host(name), objects, manifests));
    const served = { listeners: listenersOf(read), routes: new Map(), clusters };
    const found: Record<string, string> = {};
    await withEnvoy(binary!, served, async () => {
      for (const name of names) {
        const answer = await exchange({ socket: `${folder}/${name}` }, "hi").catch(() => "refused");
        // The backend's answer to bytes that are no handshake.
        found[name] = answer.startsWith("\x15") ? "TLS alert" : answer;
      }
    });
    return { found, connections: Object.fromEntries(names.map((name, i) => [name, running[i]!.connections()])) };
  } finally {
    for (const one of running) one.close();
    await Deno.remove(folder, { recursive: true });
  }
}

Deno.test({
  name: "a gateway speaks TLS to backends of BackendTLSPolicies, and to no backend that it cannot verify",
  ignore,
  async fn() {
    const [own, other] = [await Authority.make("own"), await Authority.make("other")];
    try {
      const certificate = await own.sign("b.test", 1, [["DNS", "b.test"], ["URI", "spiffe://mesh/b"]]);
      const named = (...subjectAltNames: readonly object[]) => ({ ...roots("own"), subjectAltNames });
      const uri = (uri: string) => ({ type: "URI", uri });
      const rule = (trafficPolicy: object) => ({ rule: { trafficPolicy } });
      const { found, connections } = await answers(
        {
          good: { validation: roots("own") },
          stranger: { validation: roots("other") },
          name: { validation: { ...roots("own"), hostname: "c.test" } },
          uri: { validation: { ...named(uri("spiffe://mesh/b")), hostname: "c.test" } },
          several: { validation: named(uri("spiffe://mesh/c"), { type: "Hostname", hostname: "b.test" }) },
          wrong: { validation: named(uri("spiffe://mesh/c")) },
          both: { validation: roots("other", "own") },
          missing: { validation: roots("missing") },
          pool: { validation: roots("own"), ...rule({ connectionPool: { tcp: { maxConnections: 9 } } }) },
          own: { validation: roots("own"), ...rule({ tls: { mode: "SIMPLE", sni: "user.test" } }) },
          plain: { validation: roots("missing"), ...rule({ tls: { mode: "DISABLE" } }) },
        },
        certificate,
        [authorities("shop", "own", own.certificate), authorities("shop", "other", other.certificate)],
      );
      assert.deepEqual(found, {
        good: "b.test anonymous",
        stranger: "refused",
        name: "refused",
        uri: "c.test anonymous",
        several: "b.test anonymous",
        wrong: "refused",
        both: "b.test anonymous",
        missing: "refused",
        pool: "b.test anonymous",
        own: "user.test anonymous",
        // The user's rule for plain connections has precedence.
        plain: "TLS alert",
      });
      assert.equal(connections["missing"], 0, "a backend without a usable authority is not even dialled");
    } finally {
      await own.remove();
      await other.remove();
    }
  },
});

Deno.test({
  name: "a Gateway presents its client certificate to backends of BackendTLSPolicies",
  ignore,
  async fn() {
    const [own, clients] = [await Authority.make("own"), await Authority.make("clients")];
    try {
      const certificate = await own.sign("b.test");
      const client = await clients.sign("gateway");
      const manifests = [authorities("shop", "own", own.certificate), tlsSecret("pki", "client", client)];
      const cases = {
        strict: { validation: roots("own"), requires: clients.certificate },
        open: { validation: roots("own") },
      };
      const secret = { namespace: "pki", name: "client" };
      assert.deepEqual((await answers(cases, certificate, manifests, secret)).found, {
        strict: "b.test gateway",
        open: "b.test anonymous",
      });
      assert.deepEqual((await answers(cases, certificate, manifests)).found, {
        strict: "refused",
        open: "b.test anonymous",
      });
    } finally {
      await own.remove();
      await clients.remove();
    }
  },
});
