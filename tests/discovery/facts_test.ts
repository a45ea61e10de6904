/** Manifests of a folder reach the facts and their pages, follow the folder, and change nothing for proxies. */
import assert from "node:assert/strict";
import { openLog } from "./open_log.ts";
import { page, withServer } from "./running.ts";

const PASSWORD = "correct horse battery staple";
const manifests = `apiVersion: v1
kind: Namespace
metadata: { name: shop, labels: { istio-injection: enabled } }
---
apiVersion: v1
kind: Service
metadata: { name: cart, namespace: shop }
spec: { selector: { app: cart }, ports: [{ name: http, port: 80, targetPort: 8080 }] }
---
apiVersion: v1
kind: Service
metadata: { name: reviews, namespace: shop }
spec: { selector: { app: reviews }, ports: [{ name: http, port: 80 }] }
---
apiVersion: apps/v1
kind: Deployment
metadata: { name: cart, namespace: shop }
spec:
  template:
    metadata: { labels: { app: cart } }
    spec: { containers: [{ name: cart, image: cart:1, env: [{ name: PASSWORD, value: ${PASSWORD} }] }] }
---
apiVersion: v1
kind: Secret
metadata: { name: login, namespace: shop, annotations: { note: ${PASSWORD} } }
stringData: { password: ${PASSWORD} }
---
apiVersion: v1
kind: ConfigMap
metadata: { name: settings, namespace: shop }
data: { password: ${PASSWORD} }
`;
const others = `apiVersion: gateway.networking.x-k8s.io/v1alpha1
kind: XWidget
metadata: { name: a }
---
apiVersion: networking.k8s.io/v1
kind: NetworkPolicy
metadata: { name: a }
---
apiVersion: networking.k8s.io/v1
kind: NetworkPolicy
metadata: { name: b }
`;

async function json(port: number, path: string) {
  const { status, body } = await page(port, path);
  assert.equal(status, 200, body);
  return JSON.parse(body);
}

Deno.test("facts are on their page by kind with their places, pages follow each other, and the data of secrets is not shown", async () => {
  await withServer({ "a.yaml": manifests }, async ({ ports, configuration, pipeline }, folder) => {
    const all = await json(ports.http, "/debug/factz");
    assert.deepEqual(all.kinds, { Namespace: 1, Secret: 1, ConfigMap: 1, Service: 2, Deployment: 1 });
    assert.equal(all.facts.length, 6);
    const [secret] = (await json(ports.http, "/debug/factz?kind=Secret")).facts;
    assert.deepEqual(secret, {
      ...{ kind: "Secret", namespace: "shop", name: "login", from: `${folder}/a.yaml:23`, labels: {}, annotations: {} },
      spec: { type: "Opaque", lengths: { password: PASSWORD.length } },
    });
    const pages = ["factz", "factz?kind=Secret", "configz", "problemz", "passed_over"];
    for (const path of pages) {
      const { body } = await page(ports.http, `/debug/${path}`);
      for (const form of [PASSWORD, btoa(PASSWORD)]) assert.ok(!body.includes(form), path);
    }
    const names: string[] = [];
    for (let after = "";;) {
      const { facts, next } = await json(ports.http, `/debug/factz?limit=4${after}`);
      names.push(...facts.map(({ kind, name }: Record<string, string>) => `${kind}/${name}`));
      if (next === undefined) break;
      after = `&after=${encodeURIComponent(next)}`;
    }
    assert.deepEqual(names, all.facts.map(({ kind, name }: Record<string, string>) => `${kind}/${name}`));
    const wrong = await page(ports.http, "/debug/factz?kind=Sevice&limit=0");
    assert.deepEqual([wrong.status, wrong.body.split("\n").length], [400, 3], "both mistakes at once");
    assert.deepEqual((await json(ports.http, "/debug/factz?namespace=other")).total, 0);

    assert.equal(configuration.facts.get("Service", "shop", "cart")?.spec.ports[0]?.port, 80);
    assert.equal([...pipeline.aggregate.services()].length, 0, "facts are no services of the mesh");
  });
});

Deno.test("an edit of one manifest is a change of that fact alone, and the pipeline gets no change", async () => {
  await withServer({ "a.yaml": manifests }, async ({ configuration, pipeline }, folder) => {
    const heard: string[] = [];
    configuration.facts.subscribe(({ updated }) => heard.push(...updated.map(({ new: now }) => now.key)));
    const before = pipeline.pushes;
    await Deno.writeTextFile(`${folder}/a.yaml`, manifests.replace("targetPort: 8080", "targetPort: 9090"));
    await configuration.settled();
    assert.equal(configuration.facts.get("Service", "shop", "cart")?.spec.ports[0]?.targetPort, 9090);
    assert.deepEqual(heard, ["Service/shop/cart"]);
    await Deno.remove(`${folder}/a.yaml`);
    await configuration.settled();
    assert.equal(configuration.facts.size, 0);
    assert.equal(pipeline.pushes, before);
  });
});

Deno.test("passed-over objects are one log line at the start, and a page that follows the folder", async () => {
  const { log, lines } = openLog();
  await withServer({ "a.yaml": others, "values.yaml": "image: a\n" }, async ({ ports, configuration }, folder) => {
    const said = lines.map(({ msg }) => String(msg)).filter((msg) => msg.startsWith("passed over"));
    assert.deepEqual(said, ["passed over: 2 NetworkPolicy, 1 XWidget, 1 other text"]);
    assert.deepEqual(await json(ports.http, "/debug/passed_over"), [{
      folder,
      passedOver: [
        { what: "NetworkPolicy", count: 2, files: ["a.yaml"] },
        { what: "XWidget", count: 1, files: ["a.yaml"] },
        { what: "other text", count: 1, files: ["values.yaml"] },
      ],
    }]);
    await Deno.remove(`${folder}/a.yaml`);
    await configuration.settled();
    assert.deepEqual((await json(ports.http, "/debug/passed_over"))[0].passedOver.length, 1);
  }, { log });
});
