/** Configuration that refers to services and workloads of a remote cluster alone is not found fault with. */
import assert from "node:assert/strict";
import { page } from "../../discovery/running.ts";
import { meshDraft } from "../support/drafts.ts";
import { clusterSecret, putService, serveClusters, twoClusterTests } from "../support/two_clusters.ts";

const test = twoClusterTests();

interface ShownFinding {
  readonly name: string;
  readonly message: string;
  readonly place: { readonly objects: readonly { readonly namespace?: string; readonly name: string }[] };
}

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
