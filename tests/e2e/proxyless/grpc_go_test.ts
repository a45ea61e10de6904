/**
 * Applications with gRPC for Go, without a proxy, on both sides: rules apply to the client's calls, and policies to the
 * server's callers.
 */
import assert from "node:assert/strict";
import { withPorts } from "../../../scripts/ports.ts";
import { Authority, openssl } from "../../certificates.ts";
import { go } from "../../wire_conformance/support/go.ts";
import { type SyncRow, TestMesh } from "../support/mesh.ts";
import { GoApp } from "./go_app.ts";
import { echoRules, echoService, TARGET, type Versions, type WorkloadFiles, writeBootstrap } from "./world.ts";
import { until } from "../../patience.ts";

const strict = `
apiVersion: security.istio.io/v1
kind: PeerAuthentication
metadata: { name: all, namespace: shop }
spec: { mtls: { mode: STRICT } }
`;

const policies = `
apiVersion: security.istio.io/v1
kind: AuthorizationPolicy
metadata: { name: allow, namespace: shop }
spec:
  rules:
    - from: [{ source: { principals: [cluster.local/ns/shop/sa/client] } }]
    - from: [{ source: { requestPrincipals: ["*"] } }]
---
apiVersion: security.istio.io/v1
kind: AuthorizationPolicy
metadata: { name: deny, namespace: shop }
spec:
  action: DENY
  rules: [{ to: [{ operation: { paths: [/test.Echo/Secret] } }] }]
`;

const nothing = `
apiVersion: security.istio.io/v1
kind: AuthorizationPolicy
metadata: { name: allow, namespace: shop }
spec: {}
`;

/** Files of certificates by the name of the workload. */
async function identities(folder: string, names: Readonly<Record<string, string>>) {
  const authority = await Authority.make("mesh");
  const all: Record<string, WorkloadFiles> = {};
  for (const [name, uri] of Object.entries(names)) {
    const { certificate, key } = await authority.sign(name, 1, [["URI", uri]]);
    const files = { chain: `${folder}/${name}.pem`, key: `${folder}/${name}.key`, roots: `${folder}/roots.pem` };
    await Deno.writeTextFile(files.chain, certificate);
    await Deno.writeTextFile(files.key, key);
    await Deno.writeTextFile(files.roots, authority.certificate);
    all[name] = files;
  }
  return all;
}

/**
 * @param peers PeerAuthentication.
 * @param policy Traffic policy of the service's destination rule.
 */
async function withServers(
  run: (mesh: TestMesh, versions: Versions, uri: string) => Promise<void>,
  peers = "",
  policy?: string,
): Promise<void> {
  await withPorts(2, async ([v1 = 0, v2 = 0]) => {
    const rules = echoRules({ v1: 30, v2: 70 });
    const files = { "service.yaml": echoService({ v1, v2 }, policy), "rules.yaml": rules, "peers.yaml": peers };
    await using mesh = await TestMesh.start({ files });
    await run(mesh, { v1, v2 }, `127.0.0.1:${mesh.server.ports.grpc}`);
  });
}

/** Resources that libraries refuse at present. */
async function refused(mesh: TestMesh): Promise<string[]> {
  const rows = await mesh.page<SyncRow[]>("syncz");
  assert.ok(rows.length >= 3);
  return rows.flatMap(({ resources }) => Object.values(resources).flatMap(({ lastError }) => lastError ?? []));
}

Deno.test({
  name: "calls of gRPC for Go follow the rules: subset, shares, faults and timeouts",
  ignore: go === undefined,
  fn: () =>
    withServers(async (mesh, { v1, v2 }, uri) => {
      await using one = await GoApp.server(await writeBootstrap(mesh.folder, uri, { name: "one" }), "v1", v1);
      await using two = await GoApp.server(await writeBootstrap(mesh.folder, uri, { name: "two" }), "v2", v2);
      await one.prints(/^mode SERVING/);
      await two.prints(/^mode SERVING/);
      await using client = await GoApp.client(await writeBootstrap(mesh.folder, uri), TARGET);
      assert.equal(await client.call("Say", { user: "tester" }), "answer v2");
      let first = 0;
      for (let i = 0; i < 200; i++) if (await client.call("Say") === "answer v1") first++;
      assert.ok(first > 25 && first < 95, `${first} of 200 for a share of 30 percent`);
      assert.match(await client.call("Say", { user: "unlucky" }), /^error DataLoss/);
      assert.match(await client.call("Say", { user: "answered" }), /^error PermissionDenied/);
      assert.match(await client.call("Wait"), /^error DeadlineExceeded/);
      assert.deepEqual(await refused(mesh), []);
    }),
});

Deno.test({
  name:
    "mutual TLS between applications with gRPC for Go, by certificates in files: who is let in, and whom a client trusts",
  ignore: go === undefined || !openssl,
  fn: () =>
    withServers(
      async (mesh, versions, uri) => {
        const files = await identities(mesh.folder, {
          echo: "spiffe://cluster.local/ns/shop/sa/echo",
          client: "spiffe://cluster.local/ns/shop/sa/client",
          other: "spiffe://cluster.local/ns/shop/sa/other",
          stranger: "spiffe://elsewhere.example/ns/shop/sa/client",
        });
        const bootstrap = (name: string, of = name) => writeBootstrap(mesh.folder, uri, { name, files: files[of]! });
        await using one = await GoApp.server(await bootstrap("one", "echo"), "v1", versions.v1);
        await using two = await GoApp.server(await bootstrap("two", "echo"), "v2", versions.v2);
        await one.prints(/^mode SERVING/);
        await two.prints(/^mode SERVING/);
        await using client = await GoApp.client(await bootstrap("client"), TARGET);
        await using other = await GoApp.client(await bootstrap("other"), TARGET);
        await using stranger = await GoApp.client(await bootstrap("stranger"), TARGET);
        const withoutTls = await writeBootstrap(mesh.folder, uri, { name: "plain" });
        for (const port of [versions.v1, versions.v2]) {
          await using plain = await GoApp.client(withoutTls, `127.0.0.1:${port}`);
          assert.match(
            await plain.call("Say"),
            /^error (?:Unavailable|DeadlineExceeded)/,
            "plain connections are refused",
          );
        }
        assert.match(await client.call("Say"), /^answer v[12]$/);
        assert.match(await other.call("Say"), /^answer v[12]$/);
        assert.match(await stranger.call("Say"), /^error PermissionDenied/);
        assert.deepEqual(await refused(mesh), []);

        await mesh.write("policies.yaml", policies);
        await until("policies hold", async () => /^error PermissionDenied/.test(await other.call("Say")));
        await until("on both", async () => /^error PermissionDenied/.test(await other.call("Say", { user: "tester" })));
        assert.match(await client.call("Say"), /^answer v[12]$/);
        assert.match(await client.call("Secret"), /^error PermissionDenied/);
        // A rule about tokens admits no call, because libraries verify no tokens.
        assert.match(await other.call("Say", { authorization: "Bearer x" }), /^error PermissionDenied/);

        await mesh.write("policies.yaml", nothing);
        await until("a policy without rules allows nothing", async () => {
          return /^error PermissionDenied/.test(await client.call("Say", { user: "tester" }));
        });
        await mesh.write("policies.yaml");
        await until("all are let in again", async () => /^answer/.test(await client.call("Say", { user: "tester" })));

        assert.deepEqual(await refused(mesh), []);

        const names = "{ tls: { mode: ISTIO_MUTUAL, subjectAltNames: [spiffe://cluster.local/ns/shop/sa/nobody] } }";
        await mesh.write("service.yaml", echoService(versions, names));
        // Open connections stay open.
        await until("a server with another name is not called", async () => {
          await using fresh = await GoApp.client(await bootstrap("client"), TARGET);
          return /^error Unavailable/.test(await fresh.call("Say", { user: "tester" }));
        });
      },
      strict,
      "{ tls: { mode: ISTIO_MUTUAL } }",
    ),
});
