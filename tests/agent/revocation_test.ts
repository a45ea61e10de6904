/** Real Envoys and the server refuse certificates revoked by their authority. */
import assert from "node:assert/strict";
import { withPorts } from "../../scripts/ports.ts";
import { TestIssuer } from "../authenticators/support/issuer.ts";
import { Authority, type Certificate, openssl } from "../certificates.ts";
import { callerEcho } from "../e2e/support/caller_echo.ts";
import { service } from "../e2e/support/door.ts";
import { envoyPath } from "../envoy/path.ts";
import { outcomeOf } from "../wire_conformance/support/secure_client.ts";
import { askAs, strictWorkload } from "./support/mutual_client.ts";
import { startTokenAgent, withTokenServer } from "./support/token_agent.ts";
import { until } from "../patience.ts";

const ignore = envoyPath() === undefined || !openssl;

const inline = (text: string) => new TextEncoder().encode(text).toBase64();

function secret(name: string, data: Readonly<Record<string, string>>): string {
  return JSON.stringify({
    ...{ apiVersion: "v1", kind: "Secret", metadata: { name, namespace: "demo" }, type: "Opaque" },
    data,
  });
}

/** A gateway that demands a client's certificate with a given name. */
const door = (port: number) => `
apiVersion: networking.mesh.io/v1
kind: Gateway
metadata: { name: door, namespace: demo }
spec:
  selector: { app: door }
  servers:
  - port: { number: ${port}, name: https, protocol: HTTPS }
    hosts: [app.test]
    tls: { mode: MUTUAL, credentialName: web, subjectAltNames: [good.client.test, late.client.test] }
`;

Deno.test({
  name:
    "a gateway shows the OCSP staple of its Secret, admits clients of the Secret's authority by their names, and refuses one when it is on the list in ca.crl",
  ignore,
  fn: () =>
    withPorts(5, async ([port = 0, ...ports]) => {
      await using issuer = await TestIssuer.start();
      await using app = callerEcho();
      const [web, clients] = [await Authority.make("web"), await Authority.make("clients")];
      const server = await web.sign("app.test");
      const good = await clients.sign("good.client.test");
      const late = await clients.sign("late.client.test");
      const other = await clients.sign("other.client.test");
      const stranger = await web.sign("good.client.test");
      const staple = await web.ocspResponse(server.certificate);
      const content = {
        ...{
          "tls.crt": inline(server.certificate),
          "tls.key": inline(server.key),
          "ca.crt": inline(clients.certificate),
        },
        "tls.ocsp-staple": staple.toBase64(),
      };
      const withList = async (...revoked: string[]) =>
        secret("web", { ...content, "ca.crl": inline(await clients.revoke(...revoked)) });
      const files = {
        "door.yaml": door(port) + "---" + service("app", app.port),
        "web.json": await withList(),
      };
      await withTokenServer({ issuer, files }, async (discovery) => {
        await using agent = await startTokenAgent(discovery, { name: "door", role: "router", ports });
        try {
          await until("a good client is served", async () => await askAs(port, good) !== "refused");
          assert.notEqual(await askAs(port, late), "refused");
          assert.equal(await askAs(port, other), "refused", "a name that is not on the gateway's list");
          assert.equal(await askAs(port, stranger), "refused", "of another authority");
          assert.equal(await askAs(port), "refused", "without a certificate");
          const args = ["s_client", "-connect", `127.0.0.1:${port}`, "-servername", "app.test", "-status"];
          const shown = await new Deno.Command("openssl", { args, stdin: "null", stderr: "null" }).output();
          assert.match(new TextDecoder().decode(shown.stdout), /OCSP Response Status: successful[^]*Cert Status: good/);
          await Deno.writeTextFile(`${discovery.folder}/web.json`, await withList(late.certificate));
          await until("the revoked client is refused", async () => await askAs(port, late) === "refused");
          assert.notEqual(await askAs(port, good), "refused");
          assert.doesNotMatch(agent.output, /rejected/);
        } catch (error) {
          throw new Error(agent.output, { cause: error });
        }
      });
      await Promise.all([web.remove(), clients.remove()]);
    }),
});

Deno.test({
  name:
    "a certificate on the mesh authority's list proves nothing to the server any more, and its workload is refused by Envoys whose agents have the list",
  ignore,
  fn: () =>
    withPorts(5, async ([port = 0, ...ports]) => {
      await using issuer = await TestIssuer.start();
      await using app = callerEcho();
      const authority = await Authority.make("mesh");
      const id = (name: string) => authority.sign(name, 1, [["URI", `spiffe://cluster.local/ns/demo/sa/${name}`]]);
      const [good, bad] = [await id("good"), await id("bad")];
      const ca = await Deno.makeTempDir();
      const write = (name: string, text: string) => Deno.writeTextFile(`${ca}/${name}`, text);
      await write("ca-cert.pem", authority.certificate);
      await write("ca-key.pem", await authority.key());
      await write("root-cert.pem", authority.certificate);
      const settings = { ROOT_CA_DIR: ca };
      await withTokenServer(
        { issuer, files: { "a.yaml": strictWorkload(app.port, port) }, settings },
        async (discovery) => {
          const { port: secure, root } = discovery;
          const client = (own: Certificate, serviceAccount: string) =>
            outcomeOf({ port: secure, root, own, namespace: "demo", serviceAccount });
          await using agent = await startTokenAgent(discovery, { name: "server", ports });
          try {
            assert.equal(await client(bad, "bad"), "served");
            await until("it is let in", async () => await askAs(port, bad) === "spiffe://cluster.local/ns/demo/sa/bad");
            const list = await authority.revoke(bad.certificate);
            await write("ca-crl.pem", list);
            await until("the server believes it no more", async () => /was revoked by/.test(await client(bad, "bad")));
            assert.equal(await client(good, "good"), "served");
            await Deno.mkdir(`${agent.folder}/var/run/secrets/mesh/crl`);
            await agent.write("var/run/secrets/mesh/crl/ca-crl.pem", list);
            await until("the sidecar refuses it", async () => await askAs(port, bad) === "refused");
            assert.equal(await askAs(port, good), "spiffe://cluster.local/ns/demo/sa/good");
            await agent.write("var/run/secrets/mesh/crl/ca-crl.pem", "junk\n");
            await until("a broken list is reported", () => /revocation lists cannot be used/.test(agent.output));
            assert.equal(await askAs(port, bad), "refused");
          } catch (error) {
            throw new Error(agent.output, { cause: error });
          }
        },
      );
      await authority.remove();
      await Deno.remove(ca, { recursive: true });
    }),
});
