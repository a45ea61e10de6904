/** A program on a node gets certificates for the workloads of its node. A real API tells of tokens and pods. */
import assert from "node:assert/strict";
import { readCertificates, writeCertificates } from "../../../lib/pki/certificate.ts";
import { PrivateKey } from "../../../lib/pki/private_key.ts";
import { createCertificateRequest } from "../../../lib/pki/request.ts";
import { withServer } from "../../discovery/running.ts";
import { P256 } from "../../pki/support/make.ts";
import { certificateFor } from "../../wire_conformance/support/certificate_client.ts";
import type { ApiServer } from "../support/server/api_server.ts";
import { apiServerTests } from "../support/server/tests.ts";

const test = apiServerTests();
const csr = await createCertificateRequest(await PrivateKey.generate(P256), { uris: [] });

/** Makes a pod on a node. @returns the pod's uid */
async function makePod(server: ApiServer, namespace: string, name: string, account: string, nodeName: string) {
  await server.users.account(namespace, account);
  const spec = { serviceAccountName: account, nodeName, containers: [{ name: "main", image: "none" }] };
  return (await server.objects.create({ apiVersion: "v1", kind: "Pod", metadata: { namespace, name }, spec }))
    .metadata.uid;
}

/** A token for the mesh as a pod has it. */
function tokenOf(server: ApiServer, namespace: string, account: string, pod?: { name: string; uid: string }) {
  return server.users.token(namespace, account, ["mesh-ca"], pod);
}

/** Runs a server that trusts the account `node` of a namespace; `ask` gets a certificate, or the status. */
async function withNodeAccount(
  server: ApiServer,
  namespace: string,
  run: (ask: (token: string, wanted: string) => Promise<string>) => Promise<void>,
): Promise<void> {
  const folder = await Deno.makeTempDir();
  const place = { from: "files", files: [server.kubeconfig], by: "test" } as const;
  const orch = { place, qps: 80, burst: 160, allowed: [], namespace: "", kinds: false, services: true };
  await withServer({}, async ({ ports }) => {
    const id = { apiVersion: "v1", kind: "Secret", metadata: { namespace, name: "mesh-ca-secret" } };
    const data = (await server.objects.get(id))?.["data"] as Readonly<Record<string, string>>;
    const root = writeCertificates(readCertificates(atob(data["root-cert.pem"]!)));
    await run(async (token, wanted) => {
      const asked = { ImpersonatedIdentity: wanted };
      const answer = await certificateFor({ port: ports.secureGrpc!, root, csr, token, asked });
      return typeof answer === "string" ? answer : readCertificates(answer[0]!)[0]!.names.uris.join();
    });
  }, {
    options: {
      ...{ configDir: undefined, orch, systemNamespace: namespace, secureGrpc: "127.0.0.1:0" },
      tls: { cipherSuites: [] },
    },
    settings: {
      ...{ MESHD_CUSTOM_HOST: "localhost", ROOT_CA_DIR: `${folder}/none`, MESH_SELF_SIGNED_CA_DIR: folder },
      CA_TRUSTED_NODE_ACCOUNTS: `kube-system/tunnel,${namespace}/node`,
    },
  });
  await Deno.remove(folder, { recursive: true });
}

test("a program on a node gets certificates of the workloads that run there, and of no others", async ({ server, namespace }) => {
  const uid = await makePod(server, namespace, "node-a", "node", "a");
  await makePod(server, namespace, "cart", "cart", "a");
  await makePod(server, namespace, "other", "other", "b");
  await makePod(server, namespace, "over", "over", "a");
  const over = { apiVersion: "v1", kind: "Pod", metadata: { namespace, name: "over" } };
  await server.objects.patch(over, { status: { phase: "Succeeded" } }, "status");
  const idOf = (account: string, domain = "cluster.local") => `spiffe://${domain}/ns/${namespace}/sa/${account}`;
  await withNodeAccount(server, namespace, async (ask) => {
    const token = await tokenOf(server, namespace, "node", { name: "node-a", uid });
    assert.equal(await ask(token, idOf("cart")), idOf("cart"));
    assert.equal(await ask(token, ""), idOf("node"));
    const refusal = (reason: string) => new RegExp(`^PERMISSION_DENIED: ImpersonatedIdentity: ${reason}`);
    const rows = [
      [token, idOf("other"), refusal(`no pod of ${namespace}/other runs on node a of the caller$`)],
      [token, idOf("over"), refusal(`no pod of ${namespace}/over runs on node a of the caller$`)],
      [token, idOf("cart", "partner.example"), refusal("got .*, expected spiffe://cluster.local/ns/")],
      [token, "cart", refusal('got "cart", expected spiffe://cluster.local/ns/')],
      [
        await tokenOf(server, namespace, "cart"),
        idOf("node"),
        refusal(`account ${namespace}/cart may ask only for its own certificate$`),
      ],
      [
        await tokenOf(server, namespace, "node"),
        idOf("cart"),
        refusal("the token of the caller is not bound to a pod, so the caller's node is not known$"),
      ],
    ] as const;
    for (const [shown, wanted, expected] of rows) assert.match(await ask(shown, wanted), expected);

    // A workload takes the right with it when it leaves the node, and brings the right when it comes.
    await server.objects.delete({ ...over, metadata: { namespace, name: "cart" } });
    await makePod(server, namespace, "late", "late", "a");
    for (let tries = 1; await ask(token, idOf("late")) !== idOf("late"); tries++) assert.ok(tries < 400, "late");
    assert.match(await ask(token, idOf("cart")), refusal(`no pod of ${namespace}/cart runs on node a`));
  });
});
