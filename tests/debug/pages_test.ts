/** Debug pages in the forms for tools made for Istio, and their answers to wrong requests. */
import assert from "node:assert/strict";
import { NAME_TABLE_TYPE_URL } from "../../lib/translate/name_table/encode.ts";
import { page, withServer } from "../discovery/running.ts";
import { TestProxy } from "./proxy.ts";
import { PATIENCE } from "../patience.ts";

const entry = `apiVersion: networking.mesh.io/v1
kind: ServiceEntry
metadata: { name: a, namespace: x }
spec:
  hosts: [a.example.com]
  ports: [{ number: 80, name: http, protocol: HTTP }]
  resolution: STATIC
  endpoints: [{ address: 10.0.0.9 }]
`;

Deno.test("syncz has the fields that proxy-status reads, and filters by the namespace that counts", async () => {
  await withServer({ "a.yaml": entry }, async ({ ports, xds }) => {
    using _proxy = await TestProxy.attach(ports.grpc);
    assert.equal(await xds.ledger.waitLive(0, PATIENCE), true);
    const [row, ...more] = JSON.parse((await page(ports.http, "/debug/syncz")).body);
    assert.equal(more.length, 0);
    // The proxy names neither: the namespace is in the proxy's id, and the cluster is the server's.
    assert.deepEqual([row.proxy, row.proxy_type, row.cluster_id], ["a.x", "sidecar", "Orch"]);
    assert.equal(row.istio_version, row.mesh_version);
    assert.equal(row.cluster_sent, row.cluster_acked);
    assert.notEqual(row.cluster_sent, "");
    assert.equal(row.synced, true);
    assert.equal(JSON.parse((await page(ports.http, "/debug/syncz?namespace=x")).body).length, 1);
    assert.equal(JSON.parse((await page(ports.http, "/debug/syncz?namespace=y")).body).length, 0);
  });
});

Deno.test("every page that is read refuses queries that it does not take, and takes pretty", async () => {
  await withServer({}, async ({ ports }) => {
    const paths: string[] = JSON.parse((await page(ports.http, "/debug/list")).body);
    assert.ok(paths.length > 15);
    for (const path of paths) {
      if (path === "preview") continue; // The page is POST alone.
      const refused = await page(ports.http, `/debug/${path}?pretty&no_such_query=1`);
      assert.match(refused.body, path === "scopez" ? /^query: got "no_such_query"/ : /^query "no_such_query": /, path);
      assert.equal(refused.status, 400, path);
      assert.doesNotMatch((await page(ports.http, `/debug/${path}?pretty`)).body, /"pretty"/, path);
    }
  });
});

Deno.test("a wrong request is answered with the expectation", async () => {
  await withServer({ "a.yaml": entry }, async ({ ports }) => {
    using _proxy = await TestProxy.attach(ports.grpc);
    const cases: [string, number, RegExp][] = [
      ["config_dump", 400, /proxyID is missing, expected a part of a proxy's connection id \(see \/debug\/syncz\)/],
      ["config_dump?proxyID=nobody", 404, /"nobody" is connected here; \/debug\/connections lists those that are/],
      ["config_dump?proxyID=a.x&types=cds,xds", 400, /types: got "cds,xds", expected some of cds, lds, rds, eds, sds/],
      [
        "config_dump?proxyid=a.x&types=x",
        400,
        /"proxyid": .*did you mean proxyID\?\nquery types: /,
      ],
      [
        "config_dump?proxyID=a.x&include_eds=perhaps",
        400,
        /include_eds: got "perhaps", expected nothing, true or false/,
      ],
      [
        `syncz?${Array.from({ length: 30 }, (_, at) => `q${at}`).join("&")}`,
        400,
        /^(query "q\d+": .*\n){20}and 10 more .*\n$/,
      ],
      ["syncz?namespace=", 400, /^query namespace: got "", expected the name of a namespace\n$/],
      ["nothingz", 404, /\/debug lists them/],
    ];
    for (const [path, status, words] of cases) {
      const answer = await page(ports.http, `/debug/${path}`);
      assert.equal(answer.status, status, path);
      assert.match(answer.body, words);
    }
    const dump = JSON.parse((await page(ports.http, "/debug/config_dump?proxyID=a.x&types=cds")).body);
    assert.ok(dump.configs.some((r: { name: string }) => r.name === "outbound|80||a.example.com"));
    const whole = JSON.parse((await page(ports.http, "/debug/config_dump?proxyID=a.x&include_eds")).body);
    assert.deepEqual(whole.configs.map((c: { "@type": string }) => c["@type"].split(".").at(-1)), [
      ...["ClustersConfigDump", "EndpointsConfigDump", "ListenersConfigDump", "ScopedRoutesConfigDump"],
      ...["RoutesConfigDump", "SecretsConfigDump"],
    ]);
  });
});

Deno.test("every change needs POST: GET is 405 with the command that does it, and changes nothing", async () => {
  await withServer({ "a.yaml": entry }, async ({ ports, xds, pipeline }) => {
    using _proxy = await TestProxy.attach(ports.grpc);
    const ask = async (method: string, path: string) => {
      const response = await fetch(`http://127.0.0.1:${ports.http}/debug/${path}`, { method });
      return [response.status, response.headers.get("allow"), await response.text()];
    };
    const before = pipeline.pushes;
    for (const path of ["adsz?push=any", "force_disconnect?proxyID=a.x"]) {
      assert.deepEqual(await ask("GET", path), [
        405,
        "POST, OPTIONS",
        `method: got GET, expected POST\nto change it: curl -X POST 'http://127.0.0.1:${ports.http}/debug/${path}'\n`,
      ]);
    }
    assert.deepEqual([pipeline.pushes, [...xds.streams()].length], [before, 1]);
    const pushed = Promise.withResolvers<void>();
    pipeline.onPush(() => pushed.resolve());
    assert.deepEqual(await ask("POST", "adsz?push=any"), [200, null, "Pushed to 1 servers\n"]);
    assert.equal((await ask("POST", "adsz"))[0], 400);
    await pushed.promise;
    assert.deepEqual(await ask("POST", "force_disconnect?proxyID=a.x"), [200, null, "OK\n"]);
    const gone = await ask("POST", "force_disconnect?proxyID=nobody");
    assert.equal(gone[0], 404);
  }, { settings: { UNSAFE_ENABLE_ADMIN_ENDPOINTS: true } });
});

Deno.test("ndsz has the names of an agent that asks for names, as on the agent's page; for any other agent it says so", async () => {
  const named = entry.replace("  ports", "  addresses: [10.0.0.7]\n  ports");
  await withServer({ "a.yaml": named }, async ({ ports, pipeline }) => {
    using proxy = await TestProxy.attach(ports.grpc);
    const before = await page(ports.http, "/debug/ndsz?proxyID=a.x");
    assert.equal(before.status, 404);
    assert.match(before.body, /^the agent of .*a\.x.* asks for no table of names; .*MESH_META_DNS_CAPTURE/);
    assert.equal(pipeline.translator.nameTables, 0, "the page makes none");
    await proxy.ask(NAME_TABLE_TYPE_URL);
    const { status, body } = await page(ports.http, "/debug/ndsz?proxyID=a.x");
    assert.equal(status, 200);
    assert.deepEqual(JSON.parse(body), { table: { "a.example.com": { ips: ["10.0.0.7"], registry: "External" } } });
  });
});

Deno.test("telemetryz has the Telemetries, and their merged settings for a proxy", async () => {
  const telemetry = (name: string, spec: string) =>
    `apiVersion: telemetry.istio.io/v1\nkind: Telemetry\nmetadata: { name: ${name}, namespace: x }\nspec: ${spec}\n`;
  const files = {
    "logs.yaml": telemetry("logs", "{ accessLogging: [{ providers: [{ name: envoy }], match: { mode: SERVER } }] }"),
    "other.yaml": telemetry(
      "other",
      "{ selector: { matchLabels: { app: none } }, tracing: [{ disableSpanReporting: true }] }",
    ),
  };
  await withServer(files, async ({ ports }) => {
    using _proxy = await TestProxy.attach(ports.grpc);
    const { telemetries } = JSON.parse((await page(ports.http, "/debug/telemetryz")).body);
    assert.equal(telemetries.root_namespace, "mesh-system");
    const named: { name: string }[] = telemetries.namespace_to_telemetries.x;
    assert.deepEqual(named.map(({ name }) => name), ["logs", "other"]);
    const { accessLogging, causes, tracing } = JSON.parse(
      (await page(ports.http, "/debug/telemetryz?proxyID=a.x")).body,
    );
    assert.deepEqual(accessLogging, { server: [{ provider: "envoy" }] });
    assert.deepEqual([tracing, causes], [{}, ["Telemetry/x/logs"]]);
    assert.equal((await page(ports.http, "/debug/telemetryz?proxyID=nobody")).status, 404);
  });
});
