/** A program with the library sees why its server cannot start. */
import assert from "node:assert/strict";
import { findingFile } from "../../lib/finding/finding.ts";
import { TestProxy } from "../debug/proxy.ts";
import { NodeRefused, StartError, startServer, translateForProxy } from "../../mod.ts";

Deno.test("a server that cannot start rejects with StartError, naming every option at fault", async () => {
  const folder = await Deno.makeTempDir();
  const taken = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  try {
    await Deno.writeTextFile(`${folder}/mesh.yaml`, "connectTimeout: soon\n");
    const grpc = `127.0.0.1:${taken.addr.port}`;
    const start = startServer({ configDir: `${folder}/none`, meshConfig: `${folder}/mesh.yaml`, grpc });
    await assert.rejects(start, (error) => {
      assert(error instanceof StartError);
      assert.deepEqual(error.faults.map(({ option }) => option), ["meshConfig", "configDir", "grpc"]);
      assert.match(error.message, /^meshConfig: .*connectTimeout: "soon".*\nconfigDir: got ".*none".*\ngrpc: got /);
      return true;
    });
    // Parts started before the fault have ended: the ports are free again.
    const server = await startServer({ configDir: folder });
    assert.ok(server.ports.grpc > 0 && server.ports.http > 0);
    await server.stop();
    await server.stop();
  } finally {
    taken.close();
    await Deno.remove(folder, { recursive: true });
  }
});

Deno.test("a malformed node is refused with a named error, and wrong texts are findings", () => {
  assert.throws(() => translateForProxy({ files: {}, node: { id: "nonsense" } }), NodeRefused);
  const { findings } = translateForProxy({
    files: { "a.yaml": "kind: [\n" },
    node: { id: "sidecar~10.0.0.9~a.x~x.svc.cluster.local" },
  });
  assert.deepEqual(findings.map((found) => [findingFile(found), found.severity]), [["a.yaml", "error"]]);
});

Deno.test("settings that flags stand before on the command line hold in the library too", async () => {
  const folder = await Deno.makeTempDir();
  const settings = { CLUSTER_ID: "c2", POD_NAMESPACE: "control" };
  const server = await startServer({ configDir: folder, settings });
  try {
    const ask = async (path: string) => await (await fetch(`http://127.0.0.1:${server.ports.http}${path}`)).json();
    assert.equal((await ask("/debug/mesh")).rootNamespace, "control");
    using _proxy = await TestProxy.attach(server.ports.grpc);
    assert.equal((await ask("/debug/syncz"))[0].cluster_id, "c2");
  } finally {
    await server.stop();
    await Deno.remove(folder, { recursive: true });
  }
});

Deno.test("the translation for one proxy has the secrets that its listeners ask for", () => {
  const files = {
    "gateway.yaml": `
apiVersion: networking.mesh.io/v1
kind: Gateway
metadata: { name: door, namespace: demo }
spec:
  selector: { app: door }
  servers:
  - port: { number: 443, name: https, protocol: HTTPS }
    hosts: ["*"]
    tls: { mode: SIMPLE, serverCertificate: /certs/chain.pem, privateKey: /certs/key.pem }`,
  };
  const node = { id: "router~10.9.9.9~door.demo~demo.svc.cluster.local", metadata: { LABELS: { app: "door" } } };
  const { secrets, listeners, encoded, findings } = translateForProxy({ files, node });
  assert.deepEqual(findings, []);
  const name = "file-cert:/certs/chain.pem~/certs/key.pem";
  assert.deepEqual(secrets.map((secret) => secret.name), [name]);
  assert.ok(JSON.stringify(listeners).includes(name));
  assert.ok(encoded.some((resource) => resource.name === name));
});
