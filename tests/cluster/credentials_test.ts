/** A load goes on, without a failed request, while certificates, tokens and the mesh's root are replaced. */
import assert from "node:assert/strict";
import { Authority } from "../certificates.ts";
import { until } from "./support/waiting.ts";
import { defineLong, INJECTED } from "./support/cluster_tests.ts";
import type { ClusterHandle } from "./support/handle.ts";
import { configureInjector, type InjectedPod } from "./support/injector.ts";
import { installMesh, MESH_NAMESPACE, rolledOut } from "./support/mesh.ts";
import { noneFailed } from "./support/rollouts.ts";
import { startCluster } from "./support/started_cluster.ts";
import { applyObjects, deployEcho, startLoad, strictPolicy } from "./support/workloads.ts";

const NAMESPACE = "shop";

/** Kubernetes issues no token for less time, s. */
const TOKEN_SECONDS = 600;

/** Lifetime of the workloads' certificates, s. */
const LIFETIME_SECONDS = 120;

/** Installs the mesh, and makes the namespace of the workloads, under STRICT. */
async function prepare(cluster: ClusterHandle): Promise<void> {
  await installMesh(cluster);
  const shop = { apiVersion: "v1", kind: "Namespace", metadata: { name: NAMESPACE, labels: INJECTED } };
  await applyObjects(cluster, [shop]);
  await applyObjects(cluster, [strictPolicy(NAMESPACE)]);
}

/** Servers, and a load, whose agents renew their certificates twice in a lifetime. */
async function startTraffic(cluster: ClusterHandle, more: Readonly<Record<string, string>> = {}) {
  const config = JSON.stringify({ proxyMetadata: { SECRET_TTL: `${LIFETIME_SECONDS}s` } });
  const annotations = { "proxy.mesh.io/config": config, ...more };
  await deployEcho(cluster, { namespace: NAMESPACE, name: "web", replicas: 2, annotations });
  return await startLoad(cluster, { namespace: NAMESPACE, url: `http://web.${NAMESPACE}/`, rate: 50, annotations });
}

/** Sets variables of the servers, and waits until all servers have the variables. */
async function setServerVariables(cluster: ClusterHandle, ...variables: readonly string[]): Promise<void> {
  await cluster.kubectl(["--namespace", MESH_NAMESPACE, "set", "env", "deployment/meshd", ...variables]);
  await rolledOut(cluster, MESH_NAMESPACE, "deployment/meshd");
}

/** The roots that agents of a namespace trust. */
async function trustedRoots(cluster: ClusterHandle): Promise<string> {
  const id = { apiVersion: "v1", kind: "ConfigMap", metadata: { namespace: NAMESPACE, name: "mesh-ca-root-cert" } };
  const found = await cluster.objects.get(id) as { readonly data?: Readonly<Record<string, string>> } | undefined;
  return found?.data?.["root-cert.pem"] ?? "";
}

/** A template of injection whose tokens live as short as Kubernetes allows. */
async function addShortTokens(cluster: ClusterHandle): Promise<void> {
  const serviceAccountToken = { audience: "mesh-ca", expirationSeconds: TOKEN_SECONDS, path: "mesh-token" };
  const template = { spec: { volumes: [{ name: "mesh-token", projected: { sources: [{ serviceAccountToken }] } }] } };
  const config = JSON.stringify({ policy: "enabled", templates: { short: JSON.stringify(template) } });
  const isShort = (pod: InjectedPod) => JSON.stringify(pod).includes(`"expirationSeconds":${TOKEN_SECONDS}`);
  await configureInjector(cluster, { config }, isShort, SHORT_TOKENS);
}

const SHORT_TOKENS = { "inject.mesh.io/templates": "sidecar,short" };

defineLong("certificates are renewed for longer than a token lives, and no request fails", async () => {
  await using started = await startCluster();
  const cluster = started.handle;
  await prepare(cluster);
  await addShortTokens(cluster);
  const load = await startTraffic(cluster, SHORT_TOKENS);
  // Certificates that are issued after the first token has expired need the next token.
  const renewals = Math.ceil(TOKEN_SECONDS / (LIFETIME_SECONDS / 2)) + 2;
  const begun = Date.now();
  await load.renewed(renewals);
  const seconds = (Date.now() - begun) / 1000;
  console.log(`${renewals} renewals in ${Math.round(seconds)} s`);
  assert.ok(seconds > TOKEN_SECONDS, "the first token has expired");
  await noneFailed(cluster, { namespace: NAMESPACE, app: "web" }, load);
});

defineLong("the mesh's root is replaced by the servers again and again, and no request fails", async () => {
  await using started = await startCluster();
  const cluster = started.handle;
  await prepare(cluster);
  const load = await startTraffic(cluster);
  const before = await trustedRoots(cluster);
  await setServerVariables(
    cluster,
    "CITADEL_SELF_SIGNED_ROOT_CERT_GRACE_PERIOD_PERCENTILE=100",
    "CITADEL_SELF_SIGNED_ROOT_CERT_CHECK_INTERVAL=20s",
    "CITADEL_ENABLE_JITTER_FOR_ROOT_CERT_ROTATOR=false",
  );
  const seen = new Set([before]);
  await until("the root has been replaced twice", async () => seen.add(await trustedRoots(cluster)).size >= 3);
  await load.renewed(2);
  await deployEcho(cluster, { namespace: NAMESPACE, name: "later" });
  await noneFailed(cluster, { namespace: NAMESPACE, app: "web" }, load);
});

/** The authority of the mesh as an operator brings it, with the roots that proxies trust. */
async function bring(cluster: ClusterHandle, authority: { certificate: string; key: string }, ...roots: string[]) {
  const files = { "ca-cert.pem": authority.certificate, "ca-key.pem": authority.key };
  await applyObjects(cluster, [{
    apiVersion: "v1",
    kind: "Secret",
    metadata: { name: "cacerts", namespace: MESH_NAMESPACE },
    stringData: { ...files, "root-cert.pem": roots.join(""), "cert-chain.pem": authority.certificate },
  }]);
  await until("agents are told the roots", async () => {
    const trusted = await trustedRoots(cluster);
    return roots.every((root) => trusted.includes(root.trim()));
  });
}

defineLong("the mesh moves to another root with another key in three steps, and no request fails", async () => {
  await using started = await startCluster();
  const cluster = started.handle;
  await prepare(cluster);
  const secret = { apiVersion: "v1", kind: "Secret", metadata: { namespace: MESH_NAMESPACE, name: "mesh-ca-secret" } };
  const { data } = await cluster.objects.get(secret) as unknown as { readonly data: Readonly<Record<string, string>> };
  const old = { certificate: atob(data["ca-cert.pem"]!), key: atob(data["ca-key.pem"]!) };
  const authority = await Authority.make("another root");
  const next = { certificate: authority.certificate, key: await authority.key() };
  await setServerVariables(cluster, "MESH_MULTIROOT_MESH=true");
  const load = await startTraffic(cluster);
  const steps = [[old, old.certificate, next.certificate], [next, old.certificate, next.certificate], [
    next,
    next.certificate,
  ]] as const;
  for (const [issuer, ...roots] of steps) {
    await bring(cluster, issuer, ...roots);
    // All proxies have the same lifetime of certificates: after two renewals of the load each proxy has renewed.
    await load.renewed(2);
  }
  assert.ok(!(await trustedRoots(cluster)).includes(old.certificate.trim()), "the old root is trusted no more");
  await deployEcho(cluster, { namespace: NAMESPACE, name: "later" });
  await noneFailed(cluster, { namespace: NAMESPACE, app: "web" }, load);
  await authority.remove();
});
