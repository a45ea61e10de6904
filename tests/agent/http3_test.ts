/** HTTP/3 at a gateway: real Envoys on both sides of QUIC, certificates from Secrets. */
import assert from "node:assert/strict";
import http2 from "node:http2";
import { withPorts } from "../../scripts/ports.ts";
import { TestIssuer } from "../authenticators/support/issuer.ts";
import { Authority, type Certificate, openssl } from "../certificates.ts";
import { callerEcho } from "../e2e/support/caller_echo.ts";
import { service } from "../e2e/support/door.ts";
import { envoyPath } from "../envoy/path.ts";
import { withHttp3 } from "./support/http3_client.ts";
import { startTokenAgent, withTokenServer } from "./support/token_agent.ts";
import { until } from "../patience.ts";

const ignore = envoyPath() === undefined || !openssl;
const base64 = (text: string) => new TextEncoder().encode(text).toBase64();

function secret(name: string, { certificate, key }: Certificate, clients = ""): string {
  const data = { "tls.crt": base64(certificate), "tls.key": base64(key), "ca.crt": base64(clients) };
  const metadata = { name, namespace: "demo" };
  return JSON.stringify({ apiVersion: "v1", kind: "Secret", metadata, type: "Opaque", data });
}

/** A gateway with a UDP port in its service. */
const door = (port: number) => `
apiVersion: networking.mesh.io/v1
kind: ServiceEntry
metadata: { name: door, namespace: demo }
spec:
  hosts: [door.demo.svc.cluster.local]
  location: MESH_INTERNAL
  resolution: STATIC
  ports: [{ number: ${port}, name: http3, protocol: UDP }]
  endpoints: [{ address: 127.0.0.1 }]
---
apiVersion: networking.mesh.io/v1
kind: Gateway
metadata: { name: door, namespace: demo }
spec:
  selector: { app: door }
  servers:
  - port: { number: ${port}, name: https-app, protocol: HTTPS }
    bind: 127.0.0.1
    hosts: [app.test]
    tls: { mode: SIMPLE, credentialName: app }
  - port: { number: ${port}, name: https-guarded, protocol: HTTPS }
    bind: 127.0.0.1
    hosts: [guarded.test]
    tls: { mode: MUTUAL, credentialName: guarded, subjectAltNames: [good.client.test] }
  - port: { number: ${port}, name: https-asked, protocol: HTTPS }
    bind: 127.0.0.1
    hosts: [asked.test]
    tls: { mode: OPTIONAL_MUTUAL, credentialName: guarded }
---`;

/** The header `alt-svc` of an answer over HTTP/2. */
async function offerOf(port: number, host: string): Promise<string> {
  const session = http2.connect(`https://127.0.0.1:${port}`, { servername: host, rejectUnauthorized: false });
  const { promise, resolve } = Promise.withResolvers<string>();
  session.on("error", (error) => resolve(error.message));
  const request = session.request({ ":path": "/", ":authority": host });
  request.on("response", (headers) => resolve(`${headers["alt-svc"]}`));
  request.on("error", (error) => resolve(error.message));
  return await promise.finally(() => session.destroy());
}

Deno.test({
  name:
    "HTTP/3 at a gateway: offered to clients of HTTP/2, answered by the certificate of the server name, and only to clients whose certificates the server wants; a new certificate is shown at once",
  ignore,
  fn: () =>
    withPorts(6, async ([port = 0, at = 0, ...ports]) => {
      await using issuer = await TestIssuer.start();
      await using app = callerEcho();
      const [first, second, clients] = await Promise.all(["first", "second", "clients"].map((n) => Authority.make(n)));
      const sign = async (by: Authority | undefined, name: string) => await by!.sign(name);
      const uri = "spiffe://cluster.local/ns/demo/sa/good";
      const good = await clients!.sign("good", 1, [["DNS", "good.client.test"], ["URI", uri]]);
      const files = {
        "door.yaml": door(port) + ["app", "guarded", "asked"].map((name) => service(name, app.port)).join("---"),
        "app.json": secret("app", await sign(first, "app.test")),
        "guarded.json": secret(
          "guarded",
          await first!.sign("guarded.test", 1, [["DNS", "guarded.test"], ["DNS", "asked.test"]]),
          clients!.certificate,
        ),
      };
      const roots = first!.certificate;
      const callers = {
        anyone: { host: "app.test", roots },
        later: { host: "app.test", roots: second!.certificate },
        good: { host: "guarded.test", roots, own: good },
        nobody: { host: "guarded.test", roots },
        other: { host: "guarded.test", roots, own: await sign(clients, "other.client.test") },
        stranger: { host: "guarded.test", roots, own: await sign(first, "good.client.test") },
        asked: { host: "asked.test", roots, own: good },
        silent: { host: "asked.test", roots },
        untrusted: { host: "asked.test", roots, own: await sign(first, "good.client.test") },
        unknown: { host: "unknown.test", roots },
        // The caller `old` never asks before the certificate changes: there is nothing to resume.
        old: { host: "app.test", roots },
      };
      const settings = { PILOT_ENABLE_QUIC_LISTENERS: true };
      await withTokenServer({ issuer, files, settings }, async (discovery) => {
        await using agent = await startTokenAgent(discovery, {
          ...{ name: "door", role: "router", ports },
          proxy: { proxyStatsMatcher: { inclusionSuffixes: ["downstream_rq_http3_total"] } },
        });
        const count = async (name: string) => {
          const page = await (await fetch(`http://127.0.0.1:${ports[0]}/stats?filter=${name}$`)).text();
          return page.split("\n").reduce((sum, line) => sum + Number(/: (\d+)$/.exec(line)?.[1] ?? 0), 0);
        };
        try {
          const offer = `h3=":${port}"; ma=86400`;
          await until("HTTP/3 is offered over HTTP/2", async () => await offerOf(port, "app.test") === offer);
          await withHttp3({ at, to: port, callers }, async (ask) => {
            await until("an answer over HTTP/3", async () => await ask("anyone") !== "refused");
            const bodies = await Promise.all(
              Object.keys(callers).filter((name) => name !== "old").map(async (name) => {
                const answer = await ask(name as keyof typeof callers);
                return [name, answer === "refused" ? answer : `${answer.status} ${answer.body}`] as const;
              }),
            );
            assert.deepEqual(Object.fromEntries(bodies), {
              ...{ anyone: "200 nobody", later: "refused", unknown: "refused" },
              ...{ good: `200 ${uri}`, nobody: "refused", other: "refused", stranger: "refused" },
              ...{ asked: `200 ${uri}`, silent: "200 nobody", untrusted: "refused" },
            });
            assert.ok(await count("downstream_rq_http3_total") >= 5, "the gateway counts them as HTTP/3");
            await Deno.writeTextFile(
              `${discovery.folder}/app.json`,
              secret("app", await sign(second, "app.test")),
            );
            await until("the new certificate is shown", async () => await ask("later") !== "refused");
            assert.equal(await ask("old"), "refused", "the old certificate is shown no more");
          });
          assert.doesNotMatch(agent.output, /rejected/);
        } catch (error) {
          throw new Error(agent.output, { cause: error });
        }
      });
      await Promise.all([first, second, clients].map((authority) => authority!.remove()));
    }),
});
