/** Tokens of a real API server: the bearer of a token gets the certificate of the token's account. */
import assert from "node:assert/strict";
import { TokenReviews } from "../../../lib/authenticators/token_reviews.ts";
import { readCertificates, writeCertificates } from "../../../lib/pki/certificate.ts";
import { PrivateKey } from "../../../lib/pki/private_key.ts";
import { createCertificateRequest } from "../../../lib/pki/request.ts";
import { withServer } from "../../discovery/running.ts";
import { P256 } from "../../pki/support/make.ts";
import { certificateFor } from "../../wire_conformance/support/certificate_client.ts";
import type { ApiServer } from "../support/server/api_server.ts";
import { accountClient, manifests } from "../support/server/rights.ts";
import { apiServerTests } from "../support/server/tests.ts";

const test = apiServerTests();
const SYSTEM = "mesh-system";

/** Runs a server that asks the API; `ask` is a workload that shows a token. */
async function withTokens(
  server: ApiServer,
  run: (ask: (token: string) => Promise<readonly string[] | string>) => Promise<void>,
): Promise<void> {
  const folder = await Deno.makeTempDir();
  const place = { from: "files", files: [server.kubeconfig], by: "test" } as const;
  const orch = { place, qps: 80, burst: 160, allowed: [], namespace: "", kinds: false, services: false };
  const csr = await createCertificateRequest(await PrivateKey.generate(P256), { uris: [] });
  await withServer({}, async ({ ports }) => {
    const secret = await server.objects.get({
      ...{ apiVersion: "v1", kind: "Secret" },
      metadata: { namespace: SYSTEM, name: "mesh-ca-secret" },
    });
    const data = secret?.["data"] as Readonly<Record<string, string>>;
    const root = writeCertificates(readCertificates(atob(data["root-cert.pem"]!)));
    await run((token) => certificateFor({ port: ports.secureGrpc!, root, csr, token }));
  }, {
    options: { configDir: undefined, orch, secureGrpc: "127.0.0.1:0", tls: { cipherSuites: [] } },
    settings: { MESHD_CUSTOM_HOST: "localhost", ROOT_CA_DIR: `${folder}/none`, MESH_SELF_SIGNED_CA_DIR: folder },
  });
  await Deno.remove(folder, { recursive: true });
}

test("a token for the mesh gets the certificate of its account; for others, forged, or of an account that is gone it gets nothing", async ({ server, namespace }) => {
  const { users, objects } = server;
  await objects.apply({ apiVersion: "v1", kind: "Namespace", metadata: { name: SYSTEM } });
  await users.account(namespace, "cart");
  await users.account(namespace, "gone");
  await withTokens(server, async (ask) => {
    for (const audience of ["mesh-ca", "istio-ca"]) {
      const chain = await ask(await users.token(namespace, "cart", [audience]));
      assert.ok(Array.isArray(chain), String(chain));
      const [leaf] = readCertificates(chain[0]!);
      assert.deepEqual(leaf!.names.uris, [`spiffe://cluster.local/ns/${namespace}/sa/cart`]);
    }
    const right = await users.token(namespace, "cart", ["mesh-ca"]);
    const gone = await users.token(namespace, "gone", ["mesh-ca"]);
    await objects.delete({ apiVersion: "v1", kind: "ServiceAccount", metadata: { namespace, name: "gone" } });
    const forged = right.slice(0, -8) + (right.endsWith("AAAAAAAA") ? "BBBBBBBB" : "AAAAAAAA");
    for (
      const [token, reason] of [
        [await users.token(namespace, "cart", ["vault"]), /orchestrator token: .*audiences/],
        [await users.token(namespace, "cart"), /orchestrator token: .*audiences/],
        [forged, /orchestrator token: /],
        [gone, /orchestrator token: /],
        ["opaque", /orchestrator token: expected a signed token/],
      ] as const
    ) {
      const refusal = String(await ask(token));
      assert.match(refusal, /^UNAUTHENTICATED: /);
      assert.match(refusal, reason);
    }
  });
});

test("the account of the manifests may ask about tokens, and no other right is needed; without it the refusal says so", async ({ server, namespace }) => {
  const { users, objects } = server;
  for (const definition of manifests("definitions")) await objects.define(definition);
  for (const manifest of manifests("pilot-discovery")) await objects.apply(manifest);
  await users.account(namespace, "cart");
  await users.account(SYSTEM, "without");
  const group = "authentication.k8s.io";
  await users.granted(SYSTEM, "meshd", { verb: "create", resource: "tokenreviews", group });
  const token = await users.token(namespace, "cart", ["mesh-ca"]);
  const verdict = async (account: string) => {
    using as = await accountClient(server, SYSTEM, account);
    return await new TokenReviews(as.client, () => true).review(token, ["mesh-ca"], undefined);
  };
  assert.equal((await verdict("meshd")).username, `system:serviceaccount:${namespace}:cart`);
  await assert.rejects(verdict("without"), /tokenreviews.*forbidden/);
});
