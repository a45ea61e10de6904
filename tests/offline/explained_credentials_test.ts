/** Explanations of requests over TLS with a credential: by files, and by a server that knows its credentials. */
import assert from "node:assert/strict";
import { serverExplainer } from "../../lib/offline/explain/of_server.ts";
import { struct } from "../../lib/pb/wellknown.ts";
import { page, withServer } from "../discovery/running.ts";
import { TestProxy } from "../debug/proxy.ts";
import { explained } from "./way.ts";

const example = Deno.readTextFileSync(new URL("../testdata/findings/missing-credential/clean.yaml", import.meta.url));
const pair = example.split("\n---\n")[1]!.replace("namespace: shop", "namespace: edge");

const GATEWAY = `apiVersion: networking.mesh.io/v1
kind: Gateway
metadata: { name: door, namespace: edge }
spec:
  selector: { app: door }
  servers: [{ port: { number: 443, name: https, protocol: HTTPS }, hosts: [a.test], tls: { mode: SIMPLE, credentialName: shop-tls } }]
---
apiVersion: networking.mesh.io/v1
kind: VirtualService
metadata: { name: a, namespace: edge }
spec: { hosts: [a.test], gateways: [door], http: [{ route: [{ destination: { host: ext.test, port: { number: 80 } } }] }] }
---
apiVersion: networking.mesh.io/v1
kind: WorkloadEntry
metadata: { name: door, namespace: edge, labels: { app: door } }
spec: { address: 10.0.0.4, labels: { app: door } }
---
apiVersion: networking.mesh.io/v1
kind: ServiceEntry
metadata: { name: ext, namespace: edge }
spec:
  hosts: [ext.test]
  location: MESH_EXTERNAL
  resolution: STATIC
  addresses: [10.97.0.1]
  ports: [{ number: 80, name: http, protocol: HTTP, targetPort: 9443 }]
  endpoints: [{ address: 10.19.1.6 }]
---
`;

const CLIENT = `apiVersion: networking.mesh.io/v1
kind: WorkloadEntry
metadata: { name: app, namespace: edge, labels: { app: client } }
spec: { address: 10.0.0.9, labels: { app: client } }
---
`;

const rule = (tls: string, selector = "workloadSelector: { matchLabels: { app: client } }") =>
  `apiVersion: networking.mesh.io/v1
kind: DestinationRule
metadata: { name: ext, namespace: edge }
spec: { host: ext.test, ${selector}, trafficPolicy: { tls: { ${tls}, sni: ext.test } } }
---
`;

async function end(yaml: string, from: string, to: string): Promise<string> {
  return (await explained(yaml, from, { to })).end.text;
}

const gateway = (secrets: string) =>
  end(GATEWAY + secrets, "router~10.0.0.4~door.edge~edge.svc.cluster.local", "https://a.test/");
const sidecar = (rules: string) => end(GATEWAY + CLIENT + rules, "edge/app", "http://ext.test/");

Deno.test("a gateway without its Secret takes no connection; without any Secret in the files the end says what it hangs on", async () => {
  assert.equal(await gateway(pair), "forwarded 10.19.1.6:9443 (1 of 1 healthy)");
  assert.match(
    await gateway(pair.replaceAll("shop-tls", "other")),
    /^connection closed: kubernetes:\/\/shop-tls is not sent: there is no Secret edge\/shop-tls; without it the chain/,
  );
  assert.match(
    await gateway(pair.replace("tls.key: |", "tls.key: ''\n  other: |")),
    /^connection closed: kubernetes:\/\/shop-tls is not sent: Secret\/edge\/shop-tls has neither tls\.crt/,
  );
  assert.match(
    await gateway(
      "apiVersion: v1\nkind: Secret\nmetadata: { name: shop-tls, namespace: edge }\ndata: { tls.crt: '?' }\n",
    ),
    /^connection closed: .* the text of Secret edge\/shop-tls is refused/,
  );
  assert.equal(
    await gateway(""),
    "forwarded 10.19.1.6:9443 (1 of 1 healthy), if kubernetes://shop-tls is sent: no text has Secret edge/shop-tls",
  );
});

Deno.test("a destination whose rule names a credential that is not sent is answered with 503", async () => {
  assert.match(
    await sidecar(rule("mode: MUTUAL, credentialName: shop-tls") + pair),
    /^answered 503: kubernetes:\/\/shop-tls-cacert is not sent: Secret\/edge\/shop-tls has neither ca\.crt nor cacert; /,
  );
  assert.match(
    await sidecar(rule("mode: SIMPLE, credentialName: none") + pair),
    /^answered 503: kubernetes:\/\/none-cacert is not sent: there is no Secret edge\/none; without it no endpoint/,
  );
  assert.match(
    await sidecar(rule("mode: SIMPLE, credentialName: none")),
    /, if kubernetes:\/\/none-cacert is sent: no text has Secret edge\/none$/,
  );
});

Deno.test("a ConfigMap gives any sidecar authorities, also by its name alone, and gives no key", async () => {
  const [, certificate = ""] = /tls\.crt: \|\n((?: {4}.*\n)+)/.exec(pair) ?? [];
  const map =
    `apiVersion: v1\nkind: ConfigMap\nmetadata: { name: roots, namespace: edge }\ndata:\n  ca.crt: |\n${certificate}`;
  for (const name of ["configmap://roots", "configmap://edge/roots"]) {
    const named = rule(`mode: SIMPLE, credentialName: "${name}"`, "subsets: []");
    assert.equal(await sidecar(named + map), "forwarded 10.19.1.6:9443 (1 of 1 healthy)");
  }
  assert.match(
    await sidecar(rule('mode: MUTUAL, credentialName: "configmap://roots"', "subsets: []") + map),
    /^answered 503: configmap:\/\/edge\/roots is not sent: a ConfigMap holds authorities, and no certificate/,
  );
});

Deno.test("a server says of a connected gateway, live and explained, that its credential is not sent", async () => {
  await withServer({ "a.yaml": GATEWAY }, async ({ ports }) => {
    const node = {
      id: "router~10.0.0.4~door.edge~edge.svc.cluster.local",
      metadata: struct({ NAMESPACE: "edge", LABELS: { app: "door" }, PROXY_CONFIG: {} }),
    };
    using proxy = await TestProxy.attach(ports.grpc, node);
    await proxy.ask("type.googleapis.com/envoy.config.listener.v3.Listener");
    const live = JSON.parse((await page(ports.http, "/debug/live?object=gw/edge/door&wait=30s")).body);
    assert.equal(live.everywhere, false, JSON.stringify(live));
    const said = live.why.join("\n");
    assert.match(said, /at 1 of 1 proxies kubernetes:\/\/shop-tls is not sent: the proxy has not proven an identity/);
    assert.match(said, /credential is not there: .*expected a Secret that is there \(edge\/shop-tls/);
    const { body } = await page(ports.http, "/debug/explain?from=10.0.0.4&to=https://a.test/");
    assert.match(
      JSON.parse(body).end.text,
      /^connection closed: kubernetes:\/\/shop-tls is not sent: the proxy has not/,
    );
  }, { options: { explainer: serverExplainer("cluster.local") } });
});
