/** Services of manifests in a server's folder: settings, pages, metrics, and wrong manifests. */
import assert from "node:assert/strict";
import { page, withServer } from "../running.ts";
import { meshOf } from "../../offline/mesh_of.ts";
import { defaultSettings } from "../../../lib/kernel/settings/read.ts";

const service = `apiVersion: v1
kind: Service
metadata: { name: cart, namespace: shop }
spec: { clusterIP: 10.96.0.1, selector: { app: cart }, ports: [{ name: http, port: 80, targetPort: 8080 }] }
`;
const slice = (name: string, address: string, pod: string) =>
  `apiVersion: discovery.k8s.io/v1
kind: EndpointSlice
metadata: { name: ${name}, namespace: shop, labels: { kubernetes.io/service-name: cart } }
addressType: IPv4
ports: [{ name: http, port: 8080 }]
endpoints: [{ addresses: [${address}]${pod} }]
`;
const waiting = slice("waits", "10.0.0.9", ", targetRef: { kind: Pod, name: late }");
const pod = `apiVersion: v1
kind: Pod
metadata: { name: late, namespace: shop, labels: { app: cart } }
spec: { containers: [] }
status: { podIPs: [{ ip: 10.0.0.9 }] }
`;
const machine = `apiVersion: networking.mesh.io/v1
kind: WorkloadEntry
metadata: { name: vm, namespace: shop }
spec: { address: 10.0.5.5, labels: { app: cart } }
`;
const KEY = "shop/cart.shop.svc.cluster.local";

Deno.test("PILOT_ENABLE_ORCH_SELECT_WORKLOAD_ENTRIES decides whether services select workload entries", () => {
  const addresses = (select: boolean) => {
    const settings = defaultSettings("pilot-discovery", { PILOT_ENABLE_ORCH_SELECT_WORKLOAD_ENTRIES: select });
    const mesh = meshOf({ "a.yaml": service, "b.yaml": machine }, { settings, manifestServices: true });
    return mesh.pipeline.endpoints.endpoints(KEY).map(({ address }) => address);
  };
  assert.deepEqual([addresses(true), addresses(false)], [["10.0.5.5"], []]);
});

Deno.test("manifests make no services unless that is asked for", () => {
  assert.equal(meshOf({ "a.yaml": service }).pipeline.aggregate.serviceCount, 0);
  assert.equal(meshOf({ "a.yaml": service }, { manifestServices: true }).pipeline.aggregate.serviceCount, 1);
});

Deno.test("pages show services and endpoints of manifests, metrics the endpoints that wait; a wrong slice harms itself alone", async () => {
  const files = { "a.yaml": service, "b.yaml": slice("good", "10.0.0.1", ""), "c.yaml": waiting };
  await withServer(files, async ({ ports, pipeline, configuration, findings }, folder) => {
    const addresses = () => pipeline.endpoints.endpoints(KEY).map(({ address }) => address);
    assert.match((await page(ports.http, "/debug/registryz")).body, /cart\.shop\.svc\.cluster\.local/);
    assert.match((await page(ports.http, "/debug/endpointz")).body, /10\.0\.0\.1/);
    const metrics = async () => (await page(ports.monitoring, "/metrics")).body;
    assert.match(await metrics(), /^endpoint_no_pod 1$/m);
    assert.match(await metrics(), /^pilot_k8s_endpoints_pending_pod 1$/m);
    assert.match(await metrics(), /^pilot_k8s_endpoints_with_no_pods(_total)? 1$/m);
    assert.match(
      await metrics(),
      /^pilot_k8s_reg_events(_total)?\{(type="Services",event="add"|event="add",type="Services")\} 1$/m,
    );

    await Deno.writeTextFile(`${folder}/d.yaml`, pod);
    await configuration.settled();
    assert.deepEqual(addresses(), ["10.0.0.1", "10.0.0.9"]);
    assert.match(await metrics(), /^endpoint_no_pod 0$/m);

    await Deno.writeTextFile(`${folder}/b.yaml`, slice("good", "10.0.0.2", ", conditions: { ready: maybe }"));
    await configuration.settled();
    assert.deepEqual(addresses(), ["10.0.0.1", "10.0.0.9"]);
    const [found] = [...findings()].filter(({ place }) => place.objects[0]?.name === "good");
    assert.match(found!.message, /endpoints\[0\]\.conditions\.ready: "maybe", expected true or false/);
  }, { options: { manifestServices: true } });
});

Deno.test("a mesh of texts has the same objects as a server: only discovered namespaces and only its revision", () => {
  const files = {
    "a.yaml": service,
    "b.yaml": "apiVersion: v1\nkind: Namespace\nmetadata: { name: shop, labels: { stage: prod } }\n",
    "c.yaml": `${machine.replace("name: vm,", "name: other, labels: { istio.io/rev: stable },")}---\n${machine}`,
  };
  const seen = (stage: string, manifestServices: boolean, revision = "") => {
    const settings = defaultSettings("pilot-discovery", { REVISION: revision });
    const meshConfig = `discoverySelectors: [{ matchLabels: { stage: ${stage} } }]`;
    const mesh = meshOf(files, { settings, manifestServices, meshConfig });
    return [mesh.pipeline.aggregate.serviceCount, mesh.objects.size];
  };
  assert.deepEqual(seen("prod", true), [1, 2]);
  assert.deepEqual(seen("test", true), [0, 0]);
  assert.deepEqual(seen("test", false), [0, 2], "a folder that is no cluster is read whole");
  assert.deepEqual(seen("prod", true, "canary"), [1, 1]);
});
