/** Analysis finds no fault with configuration that refers to services and workloads of a remote cluster alone. */
import assert from "node:assert/strict";
import { page } from "../../discovery/running.ts";
import { meshDraft } from "../support/drafts.ts";
import { clusterSecret, putService, serveClusters, twoClusterTests } from "../support/two_clusters.ts";
import { until } from "../../patience.ts";

const test = twoClusterTests();

interface ShownFinding {
  readonly name: string;
  readonly message: string;
  readonly place: { readonly objects: readonly { readonly namespace?: string; readonly name: string }[] };
}

test("a gateway's secret of a remote cluster that lacks a key is found with the cluster's name, and no more when it is whole", async (clusters) => {
  const { own, remote, namespace } = clusters;
  const tls = { mode: "SIMPLE", credentialName: "door" };
  const servers = [{ port: { number: 443, name: "https", protocol: "HTTPS" }, hosts: ["far.example"], tls }];
  await own.objects.apply(meshDraft("Gateway", namespace, "edge", { selector: {}, servers }));
  const secret = (data: Record<string, string>) =>
    remote.objects.apply({ apiVersion: "v1", kind: "Secret", metadata: { namespace, name: "door" }, data });
  await secret({ "tls.crt": "YQ==" });
  const credentials = clusterSecret(namespace, "clusters", { west: await Deno.readTextFile(remote.kubeconfig) });
  await own.objects.apply(credentials);
  await serveClusters(clusters, async ({ analysis }) => {
    const said = () =>
      [...analysis.findings()].filter(({ place }) => place.objects[0]?.namespace === namespace)
        .map(({ name, expected }) => `${name} ${expected}`);
    const lacking = `incomplete-credential a Secret with tls.key (${namespace}/door of cluster west has tls.crt)`;
    await until("the finding", () => said().includes(lacking));
    await secret({ "tls.crt": "YQ==", "tls.key": "YQ==" });
    await until("the other finding", () => said().some((one) => one.startsWith("unusable-credential ")));
    assert.equal(said().length, 1);
    await own.objects.delete(credentials);
    // Without the cluster there is no Secret of that name.
    await until("it is missing", () => said().join().startsWith("missing-credential "));
    assert.equal(said().length, 1);
  });
});

test("rules, routes and gateways for services of a remote cluster have no findings, and one for a service of none has", async (clusters) => {
  const { own, remote, namespace } = clusters;
  await putService(remote, namespace, "far", ["10.2.0.9"]);
  await remote.objects.apply({ apiVersion: "v1", kind: "ServiceAccount", metadata: { namespace, name: "default" } });
  const pod = {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { namespace, name: "gw", labels: { istio: `gw-${namespace}` } },
    spec: { containers: [{ name: "app", image: "none" }] },
  };
  const status = {
    phase: "Running",
    podIP: "10.2.9.9",
    podIPs: [{ ip: "10.2.9.9" }],
    conditions: [{ type: "Ready", status: "True" }],
  };
  await remote.objects.apply(pod);
  await remote.objects.patch(pod, { status }, "status");
  const host = (name: string) => `${name}.${namespace}.svc.cluster.local`;
  const route = (to: string) => ({ hosts: [to], http: [{ route: [{ destination: { host: to } }] }] });
  await own.objects.apply(meshDraft("DestinationRule", namespace, "far", { host: host("far") }));
  await own.objects.apply(meshDraft("VirtualService", namespace, "far", route(host("far"))));
  await own.objects.apply(meshDraft("VirtualService", namespace, "none", route(host("none"))));
  const servers = [{ port: { number: 80, name: "http", protocol: "HTTP" }, hosts: ["far.example"] }];
  await own.objects.apply(meshDraft("Gateway", namespace, "edge", { selector: { istio: `gw-${namespace}` }, servers }));
  await own.objects.apply(
    clusterSecret(namespace, "clusters", { west: await Deno.readTextFile(remote.kubeconfig) }),
  );
  await serveClusters(clusters, async ({ ports }) => {
    const found = JSON.parse((await page(ports.http, "/debug/problemz")).body) as ShownFinding[];
    const own = found.filter(({ place }) => place.objects.some((one) => one.namespace === namespace));
    assert.deepEqual(
      own.map(({ place }) => place.objects[0]?.name).filter((name) => name !== "none"),
      [],
      JSON.stringify(own),
    );
    assert.equal(own.length, 1);
  });
});
