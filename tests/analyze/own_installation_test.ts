/** The manifests of this project have no findings. */
import assert from "node:assert/strict";
import { AnalyzedFolder } from "./support/analyzed.ts";

const manifest = (name: string) => Deno.readTextFileSync(new URL(`../../manifests/${name}.yaml`, import.meta.url));

function codes(files: Record<string, string>): string[] {
  const folder = new AnalyzedFolder();
  folder.write(files);
  return folder.findings().map(({ code, message }) => `${code} ${message}`);
}

const pod = (labels: string, more = "") => `
apiVersion: v1
kind: Pod
metadata: { name: p, namespace: mesh-system, labels: { ${labels} } }
spec:
  securityContext: { runAsUser: 1337 }
  containers: [{ name: discovery, image: a }]
${more}`;

Deno.test("the manifests of the server and of a gateway have no finding about users of proxies or names of ports", () => {
  const found = codes({ "meshd.yaml": manifest("meshd"), "gateway.yaml": manifest("gateway") });
  assert.deepEqual(found.filter((one) => /^MSH0(?:144|118) /.test(one)), []);
});

Deno.test("a gateway's service is known by its selector, also where its own labels are not ours", () => {
  const without = manifest("gateway").replaceAll("  labels:\n    mesh: ingressgateway\n", "");
  assert.notEqual(without, manifest("gateway"));
  assert.deepEqual(codes({ "gateway.yaml": without }).filter((one) => one.startsWith("MSH0118")), []);
});

Deno.test("pods of this control plane run as the user that they run as; pods of others are found", () => {
  for (const labels of ["app: meshd", "k8s-app: mesh-cni-node", "mesh: pilot", "istio: pilot", "release: istio"]) {
    assert.deepEqual(codes({ "a.yaml": pod(labels) }).filter((one) => one.startsWith("MSH0144")), [], labels);
  }
  assert.equal(codes({ "a.yaml": pod("app: shop") }).filter((one) => one.startsWith("MSH0144")).length, 1);
});

Deno.test("an init container that runs beside the application is found by the proxy's user, an init container that ends is not", () => {
  const init = (policy: string) =>
    pod("app: shop").replace(
      "securityContext: { runAsUser: 1337 }",
      `initContainers: [{ name: logs, image: a, securityContext: { runAsUser: 1337 }${policy} }]`,
    );
  assert.equal(
    codes({ "a.yaml": init(", restartPolicy: Always") }).filter((one) => one.startsWith("MSH0144")).length,
    1,
  );
  assert.deepEqual(codes({ "a.yaml": init("") }).filter((one) => one.startsWith("MSH0144")), []);
});
