/**
 * Remote clusters that a server leads, by two real API servers: the roots of the server stay there while the namespace
 * wants them.
 */
import assert from "node:assert/strict";
import { page } from "../../discovery/running.ts";
import { namespaceDraft } from "../support/drafts.ts";
import { clusterSecret, serveClusters, type TwoClusters, twoClusterTests } from "../support/two_clusters.ts";
import { kubeconfigOf } from "../support/server/kubeconfig.ts";
import { manifests } from "../support/server/rights.ts";
import type { ApiServer } from "../support/server/api_server.ts";
import { until } from "../../patience.ts";

const BETA = "certificates.k8s.io/v1beta1";
const test = twoClusterTests({
  flags: [`--runtime-config=${BETA}=true`, "--feature-gates=ClusterTrustBundle=true"],
});
const MAP = "roots-of-the-leader";
const LOCK = "mesh-namespace-controller-election";

const map = (namespace: string, name: string) => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { namespace, name },
});

/** The roots in a namespace; undefined: none are there. */
async function rootsIn({ objects }: ApiServer, namespace: string, name = MAP): Promise<string | undefined> {
  const data = (await objects.get(map(namespace, name)))?.["data"] as Readonly<Record<string, string>> | undefined;
  return data?.["root-cert.pem"];
}

/** How a leader differs from the usual leader. */
interface Leader {
  /** Its access to the remote cluster. Default: the administrator's. */
  readonly text?: string;
  /** Default: the namespace of the test. */
  readonly systemNamespace?: string;
  /** Name of the config map. Default: a name of these tests. */
  readonly name?: string;
  /** The roots are in a bundle for the whole cluster. */
  readonly asBundle?: boolean;
}

/**
 * Runs a server with an authority, whose system namespace is the test's. Each call of `rotate` gives the access again.
 */
async function lead(
  { own, remote, namespace, ...rest }: TwoClusters,
  isExternal: boolean,
  run: (port: number, rotate: () => Promise<void>) => Promise<void>,
  { text, systemNamespace = namespace, name = MAP, asBundle = false }: Leader = {},
): Promise<void> {
  const folder = await Deno.makeTempDir();
  let access = text ?? await Deno.readTextFile(remote.kubeconfig);
  const rotate = async () => {
    access += " ";
    await own.objects.apply(clusterSecret(namespace, "clusters", { west: access }));
  };
  await rotate();
  await serveClusters({ own, remote, namespace, ...rest }, ({ ports }) => run(ports.http, rotate), {
    options: {
      secureGrpc: "127.0.0.1:0",
      tls: { cipherSuites: [] },
      webhooks: "127.0.0.1:0",
      systemNamespace,
      clusterRegistriesNamespace: namespace,
    },
    settings: {
      ...{ EXTERNAL_MESHD: isExternal, PILOT_CA_CERT_CONFIGMAP: name, CITADEL_SELF_SIGNED_CA_RSA_KEY_SIZE: 2048 },
      ENABLE_CLUSTER_TRUST_BUNDLE_API: asBundle,
      ...{ ROOT_CA_DIR: `${folder}/none`, MESH_SELF_SIGNED_CA_DIR: `${folder}/self` },
    },
  });
  await Deno.remove(folder, { recursive: true });
}

const named = (namespace: string, clusters: string) => {
  const { metadata, ...draft } = namespaceDraft(namespace);
  return { ...draft, metadata: { ...metadata, annotations: { "topology.istio.io/controlPlaneClusters": clusters } } };
};

interface Lock {
  readonly lock: string;
  readonly cluster?: string;
  readonly leads: boolean;
}

const locks = async (port: number): Promise<readonly Lock[]> =>
  (JSON.parse((await page(port, "/debug/leaderz")).body) as Lock[]).filter(({ cluster }) => cluster === "west");

test("EXTERNAL_MESHD: a cluster whose system namespace names this cluster or all clusters gets the roots, also after its access was rotated; a cluster that names another does not", async (clusters) => {
  const { own, remote, namespace } = clusters;
  await lead(clusters, true, async (port, rotate) => {
    await until("the roots here", async () => await rootsIn(own, namespace) !== undefined);
    assert.deepEqual(await locks(port), [], "nobody said that it is to be led");
    await remote.objects.apply(named(namespace, "other, Orch"));
    await until("the roots there", async () => await rootsIn(remote, namespace) !== undefined);
    assert.equal(await rootsIn(remote, namespace), await rootsIn(own, namespace));
    assert.deepEqual((await locks(port)).map(({ lock, leads }) => [lock, leads]), [[LOCK, true]]);
    const record = async () => {
      const { annotations = {} } = (await remote.objects.get(map(namespace, LOCK)))!.metadata;
      return JSON.parse(Object.values(annotations)[0] ?? "{}") as { holderIdentity: string; holderKey: string };
    };
    const { holderIdentity: first, holderKey } = await record();
    assert.equal(holderKey, "^", "a server of the cluster goes before it");

    await rotate();
    await remote.objects.delete(map(namespace, MAP));
    await until("the roots again", async () => await rootsIn(remote, namespace) !== undefined);
    await until("the lock of the new access", async () => !["", first].includes((await record()).holderIdentity));

    await remote.objects.apply(named(namespace, "other"));
    await until("the end of leading", async () => (await locks(port)).length === 0);
    await until("the lock is given back", async () => (await record()).holderIdentity === "");
    await remote.objects.delete(map(namespace, MAP));
    await remote.objects.apply(named(namespace, "*"));
    await until("the roots once more", async () => await rootsIn(remote, namespace) !== undefined);
  });
});

test("an account with the rights of both manifests for remote clusters leads, and needs no other", async (clusters) => {
  const { remote, namespace } = clusters;
  const system = "mesh-system", name = "mesh-ca-root-cert";
  for (const file of ["remote-reader", "remote-leader"]) {
    for (const manifest of manifests(file)) await remote.objects.apply(manifest);
  }
  for (const verb of ["create", "list"]) {
    await remote.users.granted(system, "mesh-reader", { verb, resource: "configmaps" });
  }
  const text = kubeconfigOf(remote.users.byToken(await remote.users.token(system, "mesh-reader")));
  const webhook = { apiVersion: "admissionregistration.k8s.io/v1", kind: "MutatingWebhookConfiguration" };
  const configuration = { ...webhook, metadata: { name: "mesh-sidecar-injector" } };
  await remote.objects.apply({
    ...configuration,
    webhooks: [{
      ...{ name: "object.sidecar-injector.mesh.io", failurePolicy: "Ignore", sideEffects: "None" },
      ...{ clientConfig: { url: "https://meshd.example:15017/inject/cluster/west" }, admissionReviewVersions: ["v1"] },
    }],
  });
  const bundle = async () => {
    const [entry] = (await remote.objects.get(configuration))?.["webhooks"] as {
      clientConfig: { caBundle?: string };
    }[];
    return entry?.clientConfig.caBundle;
  };
  await lead(clusters, true, async (port) => {
    await until("the roots there", async () => await rootsIn(remote, namespace, name) !== undefined);
    await until("the roots in the webhook", async () => await bundle() !== undefined);
    assert.equal(atob(await bundle() ?? ""), await rootsIn(remote, namespace, name));
    await remote.objects.apply({ ...map(namespace, name), data: { "root-cert.pem": "others" } });
    await until("the roots again", async () => await rootsIn(remote, namespace, name) !== "others");
    assert.deepEqual((await locks(port)).map(({ leads }) => leads), [true]);
    assert.doesNotMatch((await page(port, "/debug/clusterz")).body, /problem/);
    await remote.objects.delete(configuration);
  }, { text, systemNamespace: system, name });
});

test("ENABLE_CLUSTER_TRUST_BUNDLE_API: a cluster that is led has the roots in one bundle, by the rights of the manifests, and no config maps", async (clusters) => {
  const { own, remote, namespace } = clusters;
  const system = "mesh-system";
  await own.objects.apply(namespaceDraft(system));
  for (const file of ["remote-reader", "remote-leader"]) {
    for (const manifest of manifests(file)) await remote.objects.apply(manifest);
  }
  await remote.users.granted(system, "mesh-reader", {
    verb: "create",
    resource: "clustertrustbundles",
    group: BETA.split("/")[0]!,
  });
  const text = kubeconfigOf(remote.users.byToken(await remote.users.token(system, "mesh-reader")));
  const bundle = { apiVersion: BETA, kind: "ClusterTrustBundle", metadata: { name: "mesh.io:meshd-ca:root-cert" } };
  const rootsOf = async ({ objects }: ApiServer) =>
    ((await objects.get(bundle))?.["spec"] as { readonly trustBundle?: string } | undefined)?.trustBundle;
  await lead(clusters, true, async (port) => {
    await until("the roots there", async () => await rootsOf(remote) !== undefined);
    await until("the roots here", async () => await rootsOf(own) !== undefined);
    assert.equal(await rootsOf(remote), await rootsOf(own));
    assert.deepEqual((await locks(port)).map(({ lock, leads }) => [lock, leads]), [
      ["mesh-clustertrustbundle-controller-election", true],
    ]);
    assert.equal(await rootsIn(remote, namespace), undefined);
    await remote.objects.delete(bundle);
    await until("the roots again", async () => await rootsOf(remote) !== undefined);
  }, { text, systemNamespace: system, asBundle: true });
});

test("without EXTERNAL_MESHD no remote cluster is led, whatever its namespace says", async (clusters) => {
  const { own, remote, namespace } = clusters;
  await remote.objects.apply(named(namespace, "*"));
  await lead(clusters, false, async (port) => {
    await until("the roots here", async () => await rootsIn(own, namespace) !== undefined);
    assert.deepEqual([await locks(port), await rootsIn(remote, namespace)], [[], undefined]);
  });
});

test("LOCAL_CLUSTER_SECRET_WATCHER: secrets of clusters may be in another API than the configuration, read as the pod's account", async (clusters) => {
  const { own, remote, namespace } = clusters;
  // The configuration is in the own cluster, the secrets where the control plane runs.
  const folder = await Deno.makeTempDir();
  const rule = { apiGroups: [""], resources: ["secrets"], verbs: ["list", "watch"] };
  const access = await remote.users.account(namespace, "meshd");
  await remote.users.grant({ kind: "ServiceAccount", name: "meshd", namespace }, "reads-clusters", [rule], namespace);
  await remote.users.granted(namespace, "meshd", { verb: "list", resource: "secrets" });
  await Deno.writeTextFile(`${folder}/token`, access.authorization!.replace("Bearer ", ""));
  await Deno.writeTextFile(`${folder}/ca.crt`, access.ca!);
  const text = await Deno.readTextFile(own.kubeconfig);
  await remote.objects.apply(clusterSecret(namespace, "clusters", { west: text }));
  const clusterSecrets = { from: "pod", server: access.server, folder, by: "test" } as const;
  await serveClusters(clusters, async ({ ports }) => {
    const { body } = await page(ports.http, "/debug/clusterz");
    assert.match(body, /"west"/);
    assert.doesNotMatch(body, /problem/);
  }, { options: { clusterSecrets } });
  await Deno.remove(folder, { recursive: true });
});
