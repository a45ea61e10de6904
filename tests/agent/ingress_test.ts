/** A real Envoy serves Ingresses: paths, hosts, certificates of secrets, ports by name, and changes. */
import assert from "node:assert/strict";
import { request } from "node:https";
import http from "node:http";
import { withPorts } from "../../scripts/ports.ts";
import { TestIssuer } from "../authenticators/support/issuer.ts";
import { Authority, type Certificate, openssl } from "../certificates.ts";
import { envoyPath } from "../envoy/path.ts";
import { startTokenAgent, withTokenServer } from "./support/token_agent.ts";
import { until } from "../patience.ts";

/** An application that answers with its name. */
function application(name: string) {
  const server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen() {} }, () => new Response(name));
  return { name, port: server.addr.port, [Symbol.asyncDispose]: () => server.shutdown() };
}

/** A service of the namespace `shop` with named ports and one endpoint, on loopback. */
function service({ name, port }: { readonly name: string; readonly port: number }, ...ports: string[]): string {
  const list = (each: (name: string, at: number) => string) => ports.map(each).join(", ");
  return `---
apiVersion: v1
kind: Service
metadata: { name: ${name}, namespace: shop }
spec: { clusterIP: None, ports: [${list((one, at) => `{ name: ${one}, port: ${80 + at} }`)}] }
---
apiVersion: discovery.k8s.io/v1
kind: EndpointSlice
metadata: { name: ${name}-1, namespace: shop, labels: { kubernetes.io/service-name: ${name} } }
addressType: IPv4
ports: [${list((one) => `{ name: ${one}, port: ${port}, protocol: TCP }`)}]
endpoints: [{ addresses: [127.0.0.1], conditions: { ready: true } }]
`;
}

/** The gateway's own service. Its ports 80 and 443 have other numbers at the pod. */
const door = (plain: number, secure: number, word = "mesh") => `
apiVersion: v1
kind: Service
metadata: { name: ${word}-ingressgateway, namespace: demo }
spec:
  clusterIP: None
  selector: { ${word}: ingressgateway }
  ports: [{ name: http, port: 80, targetPort: ${plain} }, { name: https, port: 443, targetPort: ${secure} }]
---
apiVersion: v1
kind: Pod
metadata: { name: door-1, namespace: demo, labels: { ${word}: ingressgateway } }
spec: { serviceAccountName: door, containers: [] }
status: { phase: Running, podIP: 127.0.0.1, podIPs: [{ ip: 127.0.0.1 }], conditions: [{ type: Ready, status: "True" }] }
`;

function ingress(name: string, spec: string): string {
  return `---
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata: { name: ${name}, namespace: shop, annotations: { kubernetes.io/ingress.class: mesh } }
spec: ${spec}
`;
}

const path = (path: string, type: string, service: string, port = "{ name: http }") =>
  `{ path: "${path}", pathType: ${type}, backend: { service: { name: ${service}, port: ${port} } } }`;
const rule = (host: string, ...paths: readonly string[]) =>
  `{ host: "${host}", http: { paths: [${paths.join(", ")}] } }`;

const RULES = [
  rule("shop.test", path("/exact", "Exact", "one"), path("/api", "Prefix", "two"), path("/", "Prefix", "one")),
  rule(
    "shop.test",
    path("/legacy/*", "ImplementationSpecific", "two"),
    path("/gone", "Prefix", "two", "{ name: admin }"),
  ),
  rule("*.wild.test", path("/", "Prefix", "two")),
].join(", ");
const CERTIFICATE = "tls: [{ hosts: [shop.test], secretName: web }]";

function secret({ certificate, key }: Certificate): string {
  const inline = (text: string) => new TextEncoder().encode(text).toBase64();
  const data = `{ tls.crt: ${inline(certificate)}, tls.key: ${inline(key)} }`;
  return `apiVersion: v1\nkind: Secret\nmetadata: { name: web, namespace: demo }\ntype: kubernetes.io/tls\ndata: ${data}\n`;
}

/** Asks a gateway. @returns the application's name, a status, or the reason why nothing came */
function ask(port: number, host: string, path: string, ca?: string): Promise<string> {
  const { promise, resolve } = Promise.withResolvers<string>();
  const options = { host: "127.0.0.1", port, path, headers: { host }, agent: false, servername: host };
  const read = (response: http.IncomingMessage) => {
    let body = "";
    response.setEncoding("utf8").on("data", (text) => body += text);
    response.on("end", () => resolve(response.statusCode === 200 ? body : String(response.statusCode)));
  };
  const sent = ca === undefined ? http.get(options, read) : request({ ...options, ca }, read).end();
  sent.on("error", (error) => resolve(error.message));
  return promise;
}

Deno.test({
  name:
    "requests for Ingresses go by host, exact path and whole segments; over TLS with the certificate of the secret; a port of no service's name answers 503; edits are followed",
  ignore: envoyPath() === undefined || !openssl,
  fn: () =>
    withPorts(6, async ([plain = 0, secure = 0, ...ports]) => {
      await using issuer = await TestIssuer.start();
      await using one = application("one");
      await using two = application("two");
      const authority = await Authority.make("web");
      const files = {
        "door.yaml": door(plain, secure),
        "services.yaml": service(one, "http") + service(two, "http"),
        "ingress.yaml": ingress("shop", `{ ${CERTIFICATE}, rules: [${RULES}] }`),
        "broken.yaml": ingress("broken", `{ rules: [${rule("shop.test", path("/a?b", "Prefix", "one"))}] }`),
        "secret.yaml": secret(await authority.sign("shop.test")),
      };
      const settings = { ORCH_INGRESS_NS: "demo" };
      await withTokenServer({ issuer, files, settings, manifestServices: true }, async (discovery) => {
        await using agent = await startTokenAgent(discovery, {
          ...{ name: "door", role: "router", ports },
          files: { "etc/mesh/pod/labels": 'app="door"\nmesh="ingressgateway"\n' },
        });
        const write = (name: string, text: string) => Deno.writeTextFile(`${discovery.folder}/${name}`, text);
        try {
          await until("it serves", async () => await ask(plain, "shop.test", "/") === "one");
          const cases: readonly [host: string, path: string, expected: string][] = [
            ["shop.test", "/exact", "one"],
            ["shop.test", "/api", "two"],
            ["shop.test", "/api/v1?q=1", "two"],
            ["shop.test", "/apis", "one"],
            ["shop.test", "/legacy/a", "two"],
            ["shop.test", "/legacyfoo", "one"],
            ["shop.test", "/gone/x", "503"],
            ["a.wild.test", "/x", "two"],
            ["other.test", "/", "404"],
          ];
          for (const [host, path, expected] of cases) {
            assert.equal(await ask(plain, host, path), expected, `${host}${path}`);
          }
          const trusted = authority.certificate;
          await until("it serves over TLS", async () => await ask(secure, "shop.test", "/api", trusted) === "two");
          assert.match(await ask(secure, "other.test", "/", trusted), /socket|ECONNRESET|closed|hang up/);

          await write(
            "default.yaml",
            ingress("default", "{ defaultBackend: { service: { name: two, port: { number: 80 } } } }"),
          );
          await until("the default backend", async () => await ask(plain, "other.test", "/") === "two");
          await write("services.yaml", service(one, "http") + service(two, "http", "admin"));
          await until("the port of the name", async () => await ask(plain, "shop.test", "/gone/x") === "two");
          await write(
            "ingress.yaml",
            ingress("shop", `{ ${CERTIFICATE}, rules: [${rule("shop.test", path("/", "Prefix", "one"))}] }`),
          );
          await until("the edit", async () => await ask(plain, "shop.test", "/api") === "one");
          await write("ingress.yaml", ingress("shop", `{ ingressClassName: absent }`).replace(": mesh", ": nginx"));
          await until("another class", async () => await ask(plain, "shop.test", "/api") === "two");
          assert.doesNotMatch(agent.output, /rejected/);
        } catch (error) {
          throw new Error(agent.output, { cause: error });
        }
      });
      await authority.remove();
    }),
});

/** A Gateway written by a user, with another host. */
const written = (name: string, word: string) =>
  `---
apiVersion: networking.mesh.io/v1
kind: Gateway
metadata: { name: ${name}, namespace: demo }
spec:
  selector: { ${word}: ingressgateway }
  servers: [{ port: { number: 80, name: http, protocol: HTTP }, hosts: ["${name}.test"] }]
---
apiVersion: networking.mesh.io/v1
kind: VirtualService
metadata: { name: ${name}, namespace: demo }
spec: { hosts: ["${name}.test"], gateways: [${name}], http: [{ directResponse: { status: 204 } }] }
`;

Deno.test({
  name: "pods with Istio's label serve Ingresses too; Gateways that are written are for the label that they name alone",
  ignore: envoyPath() === undefined,
  fn: () =>
    withPorts(6, async ([plain = 0, secure = 0, ...ports]) => {
      await using issuer = await TestIssuer.start();
      await using one = application("one");
      const files = {
        "door.yaml": door(plain, secure, "istio"),
        "services.yaml": service(one, "http"),
        "ingress.yaml": ingress("shop", `{ rules: [${rule("shop.test", path("/", "Prefix", "one"))}] }`),
        "gateways.yaml": written("theirs", "istio") + written("ours", "mesh"),
      };
      const settings = { ORCH_INGRESS_NS: "demo" };
      await withTokenServer({ issuer, files, settings, manifestServices: true }, async (discovery) => {
        await using agent = await startTokenAgent(discovery, {
          ...{ name: "door", role: "router", ports },
          files: { "etc/mesh/pod/labels": 'app="door"\nistio="ingressgateway"\n' },
        });
        try {
          await until("it serves", async () => await ask(plain, "shop.test", "/") === "one");
          await until("what selects it", async () => await ask(plain, "theirs.test", "/") === "204");
          assert.equal(await ask(plain, "ours.test", "/"), "404");
        } catch (error) {
          throw new Error(agent.output, { cause: error });
        }
      });
    }),
});
