/** TLS of a Gateway on both sides, from a folder with Services: towards clients and towards backends, with a real Envoy. */
import assert from "node:assert/strict";
import { Authority, type Certificate, openssl } from "../certificates.ts";
import { envoyPath } from "../envoy/path.ts";
import { ask, type Got } from "./derive/traffic.ts";
import { api, document, edgeGateway, httpRoute } from "./folder_world.ts";
import { withBackends, withFolder } from "./running_folder.ts";
import { authorities, tlsSecret } from "./running_listeners.ts";

const binary = envoyPath();
const ignore = binary === undefined || !openssl;

const EDGE = { namespace: "shop", name: "edge" };

/** A Service with its ports by name, all at one port of loopback. */
function service(name: string, ports: Readonly<Record<string, number>>, target: number): string {
  const labels = { "kubernetes.io/service-name": name };
  const spec = { ports: Object.entries(ports).map(([name, port]) => ({ name, port, targetPort: target })) };
  return document({ apiVersion: "v1", kind: "Service", metadata: { name, namespace: "shop" }, spec }) + document({
    ...{ apiVersion: "discovery.k8s.io/v1", kind: "EndpointSlice" },
    metadata: { name: `${name}-1`, namespace: "shop", labels },
    addressType: "IPv4",
    ports: Object.keys(ports).map((name) => ({ name, port: target, protocol: "TCP" })),
    endpoints: [{ addresses: ["127.0.0.1"], conditions: { ready: true } }],
  });
}

/** A BackendTLSPolicy for Service `secure`, or for one of its ports. @param age Smaller is older. */
function policy(name: string, hostname: string, age: number, sectionName?: string): string {
  const targetRefs = [{ group: "", kind: "Service", name: "secure", ...(sectionName && { sectionName }) }];
  const caCertificateRefs = [{ group: "", kind: "ConfigMap", name: "roots" }];
  const creationTimestamp = new Date(Date.UTC(2026, 0, 1, 0, 0, age)).toISOString();
  return api("BackendTLSPolicy", name, { targetRefs, validation: { caCertificateRefs, hostname } }, {
    creationTimestamp,
  });
}

const path = (value: string, name: string, port: number) => ({
  matches: [{ path: { type: "PathPrefix", value } }],
  backendRefs: [{ name, port }],
});

Deno.test({
  name: "a Gateway shows its certificate to backends; a policy for a port goes before, and of equal targets the older",
  ignore,
  async fn() {
    const authority = await Authority.make("test");
    try {
      const names = ["one.test", "two.test", "three.test"].map((name) => ["DNS", name] as const);
      const own = await authority.sign("backend", 1, names);
      const client = await authority.sign("gateway");
      const secure = { cert: own.certificate, key: own.key, clients: authority.certificate };
      await withBackends({ secure, plain: {} }, async (ports) => {
        const clientCertificateRef = { name: "client" };
        const text = edgeGateway([{ name: "http", port: 80, protocol: "HTTP" }], {
          tls: { backend: { clientCertificateRef } },
        }) + httpRoute("web", [
          path("/first", "secure", 443),
          path("/second", "secure", 8443),
          path("/plain", "plain", 80),
        ]) + policy("young", "two.test", 2) + policy("old", "one.test", 1) + policy("port", "three.test", 3, "second") +
          service("secure", { first: 443, second: 8443 }, ports["secure"]!) +
          service("plain", { http: 80 }, ports["plain"]!) +
          document(tlsSecret("shop", "client", client)) + document(authorities("shop", "roots", authority.certificate));
        await withFolder(binary!, text, EDGE, async ({ socket }) => {
          const got = async (path: string) => {
            const { seen } = await ask({ socket: socket(80) }, { path });
            return [seen?.backend, seen?.sni, seen?.client];
          };
          assert.deepEqual(await got("/first"), ["secure", "one.test", "gateway"]);
          assert.deepEqual(await got("/second"), ["secure", "three.test", "gateway"]);
          assert.deepEqual(await got("/plain"), ["plain", undefined, undefined]);
        });
      });
    } finally {
      await authority.remove();
    }
  },
});

Deno.test({
  name: "clients of HTTPS listeners: verified or let in by the settings of the port, else of the Gateway",
  ignore,
  async fn() {
    const [authority, foreign] = [await Authority.make("test"), await Authority.make("foreign")];
    try {
      const web = await authority.sign("web.test");
      const clients = { own: await authority.sign("own"), foreign: await foreign.sign("foreign"), none: undefined };
      const https = (name: string, port: number, hostname?: string) => ({
        ...{ name, port, protocol: "HTTPS", ...(hostname && { hostname }) },
        tls: { certificateRefs: [{ name: "web" }] },
      });
      const validation = (mode: string, ...names: readonly string[]) => ({
        validation: { mode, caCertificateRefs: names.map((name) => ({ group: "", kind: "ConfigMap", name })) },
      });
      const frontend = {
        default: validation("AllowInsecureFallback", "roots"),
        perPort: [
          { port: 8443, tls: validation("AllowValidOnly", "foreign") },
          { port: 9443, tls: validation("AllowValidOnly", "foreign", "roots") },
        ],
      };
      await withBackends({ plain: {} }, async (ports) => {
        const listeners = [https("any", 443), https("named", 8443, "named.test"), https("both", 9443)];
        const text = edgeGateway(listeners, { tls: { frontend } }) + httpRoute("web", [path("/", "plain", 80)]) +
          service("plain", { http: 80 }, ports["plain"]!) + document(tlsSecret("shop", "web", web)) +
          document(authorities("shop", "roots", authority.certificate)) +
          document(authorities("shop", "foreign", foreign.certificate));
        await withFolder(binary!, text, EDGE, async ({ socket }) => {
          const status = async (port: number, client: Certificate | undefined) => {
            const own = client && { cert: client.certificate, key: client.key };
            const answer = ask({ socket: socket(port), tls: { servername: "named.test", ...own } }, {
              ...{ host: "named.test", path: "/" },
            });
            return await answer.then(({ status }: Got) => status, () => "refused");
          };
          const answers = async (
            port: number,
          ) => [await status(port, clients.own), await status(port, clients.foreign), await status(port, clients.none)];
          assert.deepEqual(await answers(443), [200, 200, 200]);
          assert.deepEqual(await answers(8443), ["refused", 200, "refused"]);
          assert.deepEqual(await answers(9443), [200, 200, "refused"]);
        });
      });
    } finally {
      await authority.remove();
      await foreign.remove();
    }
  },
});
