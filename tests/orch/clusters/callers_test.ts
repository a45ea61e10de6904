/** Callers of remote clusters, by two real API servers: tokens, certificates, and the secrets of gateways. */
import assert from "node:assert/strict";
import * as grpc from "@grpc/grpc-js";
import type { DiscoveryServer } from "../../../lib/discovery/server.ts";
import { encode } from "../../../lib/pb/codec.ts";
import { decode } from "../../../lib/pb/reflect.ts";
import { readCertificates } from "../../../lib/pki/certificate.ts";
import { PrivateKey } from "../../../lib/pki/private_key.ts";
import { createCertificateRequest } from "../../../lib/pki/request.ts";
import { SECRET } from "../../../lib/xds/protocol/types.ts";
import { page } from "../../discovery/running.ts";
import { P256 } from "../../pki/support/make.ts";
import { clusterSecret, serveClusters, type TwoClusters, twoClusterTests } from "../support/two_clusters.ts";
import type { ApiServer } from "../support/server/api_server.ts";
import { PATIENCE, until } from "../../patience.ts";

const test = twoClusterTests();
const same = (bytes: Uint8Array) => Buffer.from(bytes);
const root = Deno.readTextFileSync(new URL("../../testdata/pem/root.pem", import.meta.url));

/** The server asks the API of a cluster in plain text, so that tokens alone prove who calls. */
const PLAIN = { XDS_AUTH_PLAINTEXT: true, CITADEL_SELF_SIGNED_CA_RSA_KEY_SIZE: 2048 };

/** What a caller shows to the server. */
interface Shown {
  readonly token: string;
  /** The caller's cluster as the caller names it. Default: not named. */
  readonly cluster?: string;
}

function metadataOf({ token, cluster }: Shown): grpc.Metadata {
  const metadata = new grpc.Metadata();
  metadata.set("authorization", `Bearer ${token}`);
  if (cluster !== undefined) metadata.set("clusterid", cluster);
  return metadata;
}

/** Asks for a certificate. @returns the names of the certificate, or the status */
async function certificateOf({ ports }: DiscoveryServer, shown: Shown): Promise<string> {
  const csr = await createCertificateRequest(await PrivateKey.generate(P256), { uris: [] });
  const client = new grpc.Client(`127.0.0.1:${ports.grpc}`, grpc.credentials.createInsecure());
  const { promise, resolve } = Promise.withResolvers<string>();
  client.makeUnaryRequest(
    "/istio.v1.auth.IstioCertificateService/CreateCertificate",
    same,
    (bytes: Uint8Array) => decode<{ cert_chain: string[] }>("istio.v1.auth.IstioCertificateResponse", bytes).cert_chain,
    encode("istio.v1.auth.IstioCertificateRequest", { csr, validity_duration: 3600 }),
    metadataOf(shown),
    { deadline: Date.now() + PATIENCE },
    (error, chain) => {
      client.close();
      const names = error === null ? readCertificates(chain![0]!)[0]!.names.uris.join() : "";
      resolve(error === null ? names : `${grpc.status[error.code]}: ${error.details}`);
    },
  );
  return await promise;
}

/** Follows a credential. */
class CredentialWatch implements Disposable {
  /** The authorities of the last answer; undefined: there is none. */
  authorities: string | undefined;
  readonly #client: grpc.Client;
  readonly #call: grpc.ClientDuplexStream<Uint8Array, Uint8Array>;

  constructor({ ports }: DiscoveryServer, namespace: string, name: string, cluster: string, shown: Shown) {
    this.#client = new grpc.Client(`127.0.0.1:${ports.grpc}`, grpc.credentials.createInsecure());
    const ads = "/envoy.service.discovery.v3.AggregatedDiscoveryService/DeltaAggregatedResources";
    this.#call = this.#client.makeBidiStreamRequest(ads, same, same, metadataOf(shown));
    this.#call.on("error", () => {});
    this.#call.on("data", (bytes: Uint8Array) => this.#take(bytes));
    this.#send({
      node: {
        id: `router~10.9.1.1~gw.${namespace}~${namespace}.svc.cluster.local`,
        metadata: { fields: { CLUSTER_ID: { stringValue: cluster } } },
      },
      type_url: SECRET,
      resource_names_subscribe: [name],
    });
  }

  [Symbol.dispose](): void {
    this.#call.cancel();
    this.#client.close();
  }

  #send(request: object): void {
    this.#call.write(encode("envoy.service.discovery.v3.DeltaDiscoveryRequest", request));
  }

  #take(bytes: Uint8Array): void {
    interface Answer {
      readonly nonce: string;
      readonly resources?: readonly { readonly resource: { readonly value: Uint8Array } }[];
      readonly removed_resources?: readonly string[];
    }
    interface Secret {
      readonly validation_context?: { readonly trusted_ca: { readonly inline_bytes: Uint8Array } };
    }
    const { nonce, resources = [], removed_resources: gone = [] } = decode<Answer>(
      "envoy.service.discovery.v3.DeltaDiscoveryResponse",
      bytes,
    );
    if (gone.length > 0) this.authorities = undefined;
    for (const { resource } of resources) {
      const secret = decode<Secret>("envoy.extensions.transport_sockets.tls.v3.Secret", resource.value);
      this.authorities = new TextDecoder().decode(secret.validation_context?.trusted_ca.inline_bytes);
    }
    this.#send({ type_url: SECRET, response_nonce: nonce });
  }
}

async function describeRemote({ own, remote, namespace }: TwoClusters, space = ""): Promise<void> {
  const access = await Deno.readTextFile(remote.kubeconfig) + space;
  await own.objects.apply(clusterSecret(namespace, "clusters", { west: access }));
}

/** An account with a token for the mesh, with or without the right to list secrets of its namespace. */
async function account({ users }: ApiServer, namespace: string, name: string, isAllowed: boolean): Promise<string> {
  await users.account(namespace, name);
  if (isAllowed) {
    const rule = { apiGroups: [""], resources: ["secrets"], verbs: ["list"] };
    await users.grant({ kind: "ServiceAccount", name, namespace }, `${name}-reads`, [rule], namespace);
    await users.granted(namespace, name, { verb: "list", resource: "secrets" });
  }
  return await users.token(namespace, name, ["mesh-ca"]);
}

test("the cluster that a caller names reviews its token, by its alias too; another cluster, or an unknown cluster, proves nothing", async (clusters) => {
  const { own, remote, namespace } = clusters;
  await describeRemote(clusters);
  const token = await account(remote, namespace, "cart", false);
  const ownToken = await account(own, namespace, "cart", false);
  const folder = await Deno.makeTempDir();
  await serveClusters(clusters, async (server) => {
    const identity = `spiffe://cluster.local/ns/${namespace}/sa/cart`;
    const ask = (token: string, cluster?: string) =>
      certificateOf(server, { token, ...(cluster === undefined ? {} : { cluster }) });
    assert.equal(await ask(token, "west"), identity);
    assert.equal(await ask(token, "sunset"), identity);
    assert.equal(await ask(ownToken), identity);
    assert.equal(await ask(ownToken, "Orch"), identity);
    for (const [shown, cluster] of [[token, undefined], [token, "Orch"], [ownToken, "west"]] as const) {
      assert.match(await ask(shown, cluster), /^UNAUTHENTICATED: .*orchestrator token/, cluster ?? "none");
    }
    assert.match(await ask(token, "east"), /^UNAUTHENTICATED: .*cluster "east" is not known here/);
    await own.objects.delete(clusterSecret(namespace, "clusters", {}));
    await until("the end of the cluster", async () => {
      return !(await page(server.ports.http, "/debug/clusterz")).body.includes("west");
    });
    assert.match(await ask(token, "west"), /^UNAUTHENTICATED: .*cluster "west" is not known here/);
  }, {
    options: { clusterAliases: { sunset: "west" }, secureGrpc: "127.0.0.1:0", tls: { cipherSuites: [] } },
    settings: { ...PLAIN, ROOT_CA_DIR: `${folder}/none`, MESH_SELF_SIGNED_CA_DIR: folder },
  });
  await Deno.remove(folder, { recursive: true });
});

test("a gateway of a remote cluster gets the secrets of its cluster, as its cluster's API allows, and keeps them while the access changes", async (clusters) => {
  const { own, remote, namespace } = clusters;
  await describeRemote(clusters);
  const authorities = (name: string, text: string) => ({
    ...{ apiVersion: "v1", kind: "Secret", metadata: { namespace, name } },
    data: { "ca.crt": btoa(text) },
  });
  const second = root + root;
  await remote.objects.apply(authorities("web", root));
  await own.objects.apply(authorities("web", second));
  await own.objects.apply(authorities("shared", root));
  const token = await account(remote, namespace, "gateway", true);
  const refused = await account(remote, namespace, "stranger", false);
  // Rights of the same account in the server's own cluster say nothing about the remote cluster.
  await account(own, namespace, "stranger", true);
  await serveClusters(clusters, async (server) => {
    const watch = (name: string, cluster: string, token: string) =>
      new CredentialWatch(server, namespace, `kubernetes://${name}-cacert`, cluster, { token, cluster: "west" });
    using web = watch("web", "west", token);
    using shared = watch("shared", "west", token);
    using stranger = watch("web", "west", refused);
    using lost = watch("web", "east", token);
    await until("the secret of the cluster", () => web.authorities === root);
    await until("a secret of the server's own cluster", () => shared.authorities === root);
    const errors = async () => (await page(server.ports.monitoring!, "/metrics")).body;
    await until("both refusals", async () => /^pilot_sds_certificate_errors_total 2$/m.test(await errors()));
    await describeRemote(clusters, " ");
    await remote.objects.apply(authorities("web", second));
    await until("the other secret", () => web.authorities === second);
    await remote.objects.delete(authorities("web", ""));
    await own.objects.delete(authorities("web", ""));
    await until("its end", () => web.authorities === undefined);
    assert.deepEqual([shared.authorities, stranger.authorities, lost.authorities], [root, undefined, undefined]);
  }, { settings: PLAIN });
});
