/** The webhooks of a running server: over TLS, on the port of pages, and their answers to requests without a review. */
import assert from "node:assert/strict";
import https from "node:https";
import { withServer } from "./running.ts";

const TLS = { secureGrpc: "127.0.0.1:0", tls: { cipherSuites: [] } } as const;

const review = (object: unknown) => ({
  apiVersion: "admission.k8s.io/v1",
  kind: "AdmissionReview",
  request: {
    uid: "77",
    resource: { group: "networking.mesh.io", version: "v1", resource: "sidecars" },
    operation: "CREATE",
    object,
  },
});

const sidecar = (port: number) => ({
  apiVersion: "networking.mesh.io/v1",
  kind: "Sidecar",
  metadata: { name: "own", namespace: "shop" },
  spec: { ingress: [{ port: { number: port, protocol: "HTTP", name: "web" }, defaultEndpoint: "127.0.0.1:80" }] },
});

/** Posts over TLS, trusting the roots of the server's own authority. */
function post(port: number, ca: string, body: string): Promise<{ status: number; body: string }> {
  return new Promise((resolve, reject) => {
    const options = { method: "POST", host: "127.0.0.1", servername: "localhost", port, path: "/validate", ca };
    const request = https.request({ ...options, headers: { "content-type": "application/json" } }, (response) => {
      let text = "";
      response.setEncoding("utf8").on("data", (part) => text += part);
      response.on("end", () => resolve({ status: response.statusCode!, body: text }));
    });
    request.on("error", reject).end(body);
  });
}

Deno.test("over TLS, by the server's own certificate, a review is answered with all causes", async () => {
  const kept = await Deno.makeTempDir();
  const settings = { MESHD_CUSTOM_HOST: "localhost", MESH_SELF_SIGNED_CA_DIR: kept };
  await withServer({}, async ({ ports }, _, kernel) => {
    const ca = await Deno.readTextFile(`${kept}/authority.pem`);
    const good = await post(ports.webhooks!, ca, JSON.stringify(review(sidecar(8080))));
    assert.deepEqual(JSON.parse(good.body).response, { uid: "77", allowed: true });
    const bad = JSON.parse((await post(ports.webhooks!, ca, JSON.stringify(review(sidecar(99999))))).body);
    assert.equal(bad.response.allowed, false);
    assert.equal(bad.response.status.code, 422);
    assert.match(bad.response.status.details.causes[0].field, /^spec\.ingress\[0\]\.port/);
    const page = (await kernel.metrics.scrape()).body.toString();
    assert.match(page, /galley_validation_passed\{group="networking.mesh.io",version="v1",resource="sidecars"\} 1/);
    assert.match(page, /galley_validation_failed\{[^}]*reason="invalid_resource"\} 1/);
  }, { options: { ...TLS, webhooks: "127.0.0.1:0" }, settings });
  await Deno.remove(kept, { recursive: true });
});

Deno.test("with an empty address webhooks are on the port of pages", async () => {
  await withServer({}, async ({ ports }, _, kernel) => {
    const ask = (body: string, type: string) =>
      fetch(`http://127.0.0.1:${ports.http}/validate`, { method: "POST", body, headers: { "content-type": type } });
    const answer = await (await ask(JSON.stringify(review(sidecar(8080))), "application/json; charset=utf-8")).json();
    assert.equal(answer.response.allowed, true);
    const statuses = [
      await ask("", "application/json"),
      await ask("{}", "text/plain"),
      await ask("{", "application/json"),
      await ask('{"apiVersion":"admission.k8s.io/v7","kind":"AdmissionReview","request":{}}', "application/json"),
    ].map(async (response) => [response.status, await response.text()] as const);
    const [empty, type, broken, other] = await Promise.all(statuses);
    assert.deepEqual([empty, type, broken, other].map((one) => one![0]), [400, 415, 400, 400]);
    assert.match(other![1], /apiVersion: got "admission.k8s.io\/v7", expected admission.k8s.io\/v1 or/);
    assert.match(other![1], /request\.uid: got none, expected a text/, "all problems at once");
    assert.match((await kernel.metrics.scrape()).body.toString(), /galley_validation_http_error\{status="400"\} 3/);
  }, { options: { webhooks: "" } });
});

Deno.test("whoever asks about made-up resources makes no series of metrics, and a pod with thousands of mistakes is a short answer", async () => {
  await withServer({}, async ({ ports }, _, kernel) => {
    await kernel.readiness.whenReady;
    const ask = async (path: string, request: object) => {
      const body = { apiVersion: "admission.k8s.io/v1", kind: "AdmissionReview", request };
      const answer = await fetch(`http://127.0.0.1:${ports.http}${path}`, {
        method: "POST",
        body: JSON.stringify(body),
        headers: { "content-type": "application/json" },
      });
      return await answer.text();
    };
    for (let i = 0; i < 50; i++) {
      const resource = { group: `made-up-${i}`, version: `v${i + 10}`, resource: `things-${i}` };
      await ask("/validate", { uid: "1", resource, operation: "CREATE", object: sidecar(i % 2 === 0 ? 80 : 99999) });
    }
    const scrape = (await kernel.metrics.scrape()).body;
    const series = scrape.split("\n").filter((line) =>
      line.startsWith("galley_validation_") && line.includes("group=")
    );
    assert.deepEqual(series, [
      'galley_validation_failed{group="other",version="other",resource="other",reason="invalid_resource"} 25',
      'galley_validation_passed{group="other",version="other",resource="other"} 25',
    ]);
    const containers = Array.from({ length: 500 }, (_, i) => ({ name: 7, image: "x" + i }));
    const pod = { apiVersion: "v1", kind: "Pod", metadata: { name: "a" }, spec: { containers } };
    const resource = { group: "", version: "v1", resource: "pods" };
    const answer = await ask("/inject", { uid: "2", resource, operation: "CREATE", namespace: "shop", object: pod });
    const { response } = JSON.parse(answer);
    assert.equal(response.allowed, false);
    assert.match(response.status.message, /; and \d+ more problems$/);
    assert.ok(answer.length < 50_000, `${answer.length} bytes`);
  }, { options: { webhooks: "" } });
});

Deno.test("without a certificate the port for webhooks stays closed, and the server serves", async () => {
  await withServer({}, ({ ports }) => {
    assert.equal(ports.webhooks, undefined);
    return Promise.resolve();
  }, { options: { webhooks: "127.0.0.1:0" } });
});

Deno.test("/inject answers a body without a review by HTTP, and refuses a review of anything but a pod by a review with the reason", async () => {
  await withServer({}, async ({ ports }, _, kernel) => {
    await kernel.readiness.whenReady;
    const ask = (body: string, type = "application/json", path = "") =>
      fetch(`http://127.0.0.1:${ports.http}/inject${path}`, {
        method: "POST",
        body,
        headers: { "content-type": type },
      });
    const refused = async (body: unknown, path?: string) => {
      const text = typeof body === "string" ? body : JSON.stringify(body);
      const answer = await ask(text, "application/json", path);
      assert.equal(answer.status, 200);
      const { response } = await answer.json();
      assert.equal(response.allowed, false);
      return response;
    };
    for (const [body, type, status] of [["", "application/json", 400], ["{}", "text/plain", 415]] as const) {
      const answer = await ask(body, type);
      assert.equal(answer.status, status);
      await answer.body?.cancel();
    }
    assert.match((await refused("{")).status.message, /expected JSON/);
    const broken = { apiVersion: "admission.k8s.io/v1", kind: "AdmissionReview", request: { uid: "88", operation: 5 } };
    const answered = await refused(broken, "/cluster/c1");
    assert.equal(answered.uid, "88");
    assert.match(answered.status.message, /request\.resource: .*; request\.operation: got 5/);
    const pods = { group: "", version: "v1", resource: "pods" };
    const pod = (object: unknown) => ({ ...review(object), request: { ...review(object).request, resource: pods } });
    const { status } = await refused(pod({ metadata: { labels: { a: 1 } }, spec: {} }));
    assert.match(status.message, /metadata\.labels\.a: got 1, expected a text; spec\.containers: got none/);
    for (const hostile of [null, 5, "pod", [], { metadata: null }]) await refused(pod(hostile));
    const page = (await kernel.metrics.scrape()).body;
    assert.match(page, /sidecar_injection_requests_total 10\n/);
    assert.match(page, /sidecar_injection_failure_total 10\n/);
    assert.match(page, /sidecar_injection_success_total 0\n/);
  }, { options: { webhooks: "" } });
});

Deno.test("a pod gets the JSON patch of its proxy, also by v1beta1; a pod that wants no proxy is admitted unchanged", async () => {
  await withServer({}, async ({ ports }, _, kernel) => {
    await kernel.readiness.whenReady;
    const ask = async (labels: Record<string, string>, path: string) => {
      const object = { metadata: { name: "a", labels }, spec: { containers: [{ name: "app", image: "a" }] } };
      const request = { ...review(object).request, resource: { group: "", version: "v1", resource: "pods" } };
      const body = JSON.stringify({ ...review(object), apiVersion: "admission.k8s.io/v1beta1", request });
      const headers = { "content-type": "application/json" };
      return await (await fetch(`http://127.0.0.1:${ports.http}${path}`, { method: "POST", body, headers })).json();
    };
    const { apiVersion, response } = await ask({}, "/inject/cluster/c1/odd");
    assert.equal(apiVersion, "admission.k8s.io/v1beta1");
    assert.deepEqual([response.uid, response.allowed, response.patchType], ["77", true, "JSONPatch"]);
    assert.match(atob(response.patch), /mesh-proxy/);
    assert.match(response.warnings[0], /the key "odd" without a value/);
    const none = await ask({ "sidecar.istio.io/inject": "false" }, "/inject");
    assert.deepEqual(none.response, { uid: "77", allowed: true });
    const page = (await kernel.metrics.scrape()).body;
    assert.match(page, /sidecar_injection_skip_total 1\n/);
    assert.match(page, /sidecar_injection_success_total 1\n/);
    assert.match(page, /sidecar_injection_time_seconds_count 2\n/);
  }, { options: { webhooks: "" } });
});

Deno.test("a pod of megabytes and a pod nested deeper than any stack are answered, and so is the next pod", async () => {
  await withServer({}, async ({ ports }, _, kernel) => {
    await kernel.readiness.whenReady;
    const ask = async (more: string) => {
      const spec = `{"containers":[{"name":"app","image":"a"}]${more}}`;
      const pods = `{"group":"","version":"v1","resource":"pods"}`;
      const request = `{"uid":"1","operation":"CREATE","resource":${pods},"object":{"metadata":{},"spec":${spec}}}`;
      const body = `{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","request":${request}}`;
      const headers = { "content-type": "application/json" };
      const answer = await fetch(`http://127.0.0.1:${ports.http}/inject`, { method: "POST", body, headers });
      return { status: answer.status, text: await answer.text() };
    };
    const mounts = Array.from({ length: 16_000 }, (_, i) => ({ name: `v${i}`, emptyDir: {} }));
    const large = await ask(`,"volumes":${JSON.stringify(mounts)}`);
    assert.equal(JSON.parse(large.text).response.allowed, true);
    const deep = await ask(`,"affinity":${'{"a":'.repeat(100_000)}1${"}".repeat(100_000)}`);
    assert.equal(deep.status, 200);
    assert.equal(typeof JSON.parse(deep.text).response.allowed, "boolean");
    assert.equal((await ask(`,"x":"${"y".repeat(8_000_000)}"`)).status, 413);
    assert.equal(JSON.parse((await ask("")).text).response.allowed, true);
  }, { options: { webhooks: "" } });
});

/** A review of more than a megabyte. */
const largeReview = (paths: readonly object[]) =>
  JSON.stringify({
    ...review({
      apiVersion: "networking.mesh.io/v1",
      kind: "VirtualService",
      metadata: { name: "large", namespace: "shop" },
      spec: { hosts: ["a.test"], http: paths },
    }),
  });

Deno.test("large objects and pods are judged like small objects, in a separate thread", async () => {
  await withServer({}, async ({ ports }, _, kernel) => {
    await kernel.readiness.whenReady;
    const headers = { "content-type": "application/json" };
    const ask = async (path: string, body: string) =>
      (await (await fetch(`http://127.0.0.1:${ports.http}${path}`, { method: "POST", body, headers })).json()).response;
    const routes = Array.from({ length: 10_000 }, (_, i) => ({
      ...{ match: [{ uri: { prefix: `/path-of-route-${i}/` } }], route: [{ destination: { host: "b.test" } }] },
    }));
    assert.deepEqual(await ask("/validate", largeReview(routes)), { uid: "77", allowed: true });
    const refused = await ask("/validate", largeReview([...routes, { timeout: "soon" }]));
    assert.match(refused.status.details.causes[0].field, /^spec\.http\[10000\]/);
    const pod = (spec: object) => ({
      apiVersion: "admission.k8s.io/v1",
      kind: "AdmissionReview",
      request: {
        ...{ uid: "78", operation: "CREATE", namespace: "shop" },
        ...{ resource: { group: "", version: "v1", resource: "pods" }, object: { metadata: { name: "p" }, spec } },
      },
    });
    const many = await ask("/inject", JSON.stringify(pod({ volumes: Array.from({ length: 100_000 }, () => ({})) })));
    assert.equal(many.allowed, false);
    assert.match(many.status.message, /more than 50000 values/);
    const env = [{ name: "LONG", value: "x".repeat(200_000) }];
    const long = await ask("/inject", JSON.stringify(pod({ containers: [{ name: "app", image: "app", env }] })));
    assert.equal(long.uid, "78", "it is long and yet of few values: answered as others");
    assert.doesNotMatch(long.status?.message ?? "", /values/);
    const page = (await kernel.metrics.scrape()).body.toString();
    assert.match(page, /galley_validation_passed\{[^}]*\} 1/);
    assert.match(page, /galley_validation_failed\{[^}]*reason="invalid_resource"\} 1/);
    assert.match(page, /sidecar_injection_requests_total 2/);
    const broken = "{".repeat(100_000);
    const { status } = await fetch(`http://127.0.0.1:${ports.http}/validate`, {
      method: "POST",
      body: broken,
      headers,
    });
    assert.equal(status, 400);
  }, { options: { webhooks: "" } });
});
