/**
 * A server with certificates of the orchestrator's signers, and a workload as its client.
 *
 * Permissions: net (the API server, loopback), read and write (temporary folders).
 * @module
 */
import type { SettingsOf } from "../../../lib/kernel/settings/catalogue.ts";
import type { Clock } from "../../../lib/kernel/time/clock.ts";
import { PrivateKey } from "../../../lib/pki/private_key.ts";
import { createCertificateRequest } from "../../../lib/pki/request.ts";
import { withServer } from "../../discovery/running.ts";
import { P256 } from "../../pki/support/make.ts";
import { certificateFor } from "../../wire_conformance/support/certificate_client.ts";
import type { ApiServer } from "./server/api_server.ts";
import { until } from "../../patience.ts";

/** Domain of the signers of tests. */
export const DOMAIN = "issuers.example.com";
/** A signer of one test. */
export const signerOf = (namespace: string) => `${DOMAIN}/${namespace}`;
/** Key of the workload. */
export const key = await PrivateKey.generate(P256);

/** The kind of a request for a signature. */
export const REQUEST_KIND = { apiVersion: "certificates.k8s.io/v1", kind: "CertificateSigningRequest" };

/** Requests for a signer in the API. */
export async function requestsOf(server: ApiServer, signer: string) {
  const all = await server.objects.list(REQUEST_KIND);
  return all.filter(({ spec }) => (spec as { readonly signerName: string }).signerName === signer);
}

/** A workload, client of the server's authority. */
export interface SignedWorkload {
  /**
   * Asks for a certificate. @returns the chain, or the status. `chain`: the workload shows this certificate in place of
   * a token.
   */
  ask(
    asked?: Readonly<Record<string, string>>,
    more?: { csr?: string; within?: number; seconds?: number; chain?: readonly string[] },
  ): Promise<readonly string[] | string>;
  readonly uri: string;
  /** Port of the server, the roots of the server's certificate, and the workload's token. */
  readonly access: { readonly port: number; readonly roots: string; readonly token: string };
  readonly setMesh: (yaml: string) => Promise<void>;
}

/** Runs a server in a namespace, and a workload of the account `cart` there. */
export async function withSigners(
  server: ApiServer,
  namespace: string,
  settings: Partial<SettingsOf<"pilot-discovery">>,
  mesh: string,
  run: (workload: SignedWorkload) => Promise<void>,
  clock?: Clock,
): Promise<void> {
  const folder = await Deno.makeTempDir();
  await Deno.writeTextFile(`${folder}/mesh`, mesh);
  await server.users.account(namespace, "cart");
  const token = await server.users.token(namespace, "cart", ["mesh-ca"]);
  const place = { from: "files", files: [server.kubeconfig], by: "test" } as const;
  const orch = { place, qps: 80, burst: 160, allowed: [], namespace: "", kinds: false, services: false };
  const uri = `spiffe://cluster.local/ns/${namespace}/sa/cart`;
  const own = await createCertificateRequest(key, { uris: [uri] });
  await withServer({}, async ({ ports, mesh }) => {
    const map = { apiVersion: "v1", kind: "ConfigMap", metadata: { namespace, name: "mesh-ca-root-cert" } };
    let root = "";
    await until("roots are handed out", async () => {
      const data = (await server.objects.get(map))?.["data"] as Readonly<Record<string, string>> | undefined;
      return (root = data?.["root-cert.pem"] ?? "") !== "";
    });
    await run({
      uri,
      access: { port: ports.secureGrpc!, roots: root, token },
      ask: (asked = {}, { csr = own, chain, ...more } = {}) => {
        const proof = chain === undefined ? { token } : { identity: { key: key.pem(), chain: chain.join("") } };
        return certificateFor({ port: ports.secureGrpc!, root, csr, ...proof, asked, ...more });
      },
      setMesh: async (yaml) => {
        const changed = Promise.withResolvers<void>();
        mesh.onChange(() => changed.resolve());
        await Deno.writeTextFile(`${folder}/mesh`, yaml);
        await changed.promise;
      },
    });
  }, {
    options: {
      ...{ configDir: folder, orch, systemNamespace: namespace, secureGrpc: "127.0.0.1:0" },
      ...{ tls: { cipherSuites: [] }, meshConfig: `${folder}/mesh` },
    },
    settings: {
      ...{ MESHD_CUSTOM_HOST: "localhost", ROOT_CA_DIR: `${folder}/none`, MESH_SELF_SIGNED_CA_DIR: folder },
      ...settings,
    },
    ...clock === undefined ? {} : { clock },
  });
  await Deno.remove(folder, { recursive: true });
}

/** Roots of signers, in the form of a mesh configuration. */
export const rootsOf = (...of: readonly (readonly [string, string])[]) =>
  JSON.stringify({ caCertificates: of.map(([signer, pem]) => ({ pem, certSigners: [signer] })) });
