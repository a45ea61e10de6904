/** Pages for people: readers, content, and texts of others, which never become more than text. */
import assert from "node:assert/strict";
import { parseYaml } from "../../lib/config/yaml/parse.ts";
import { struct } from "../../lib/pb/wellknown.ts";
import { CLUSTER } from "../../lib/xds/protocol/types.ts";
import { TestProxy } from "../debug/proxy.ts";
import type { DebugView } from "../../lib/debug/view.ts";
import type { HttpRequest } from "../../lib/http/message.ts";
import { injectionPage } from "../../lib/web/injection.ts";
import { withServer } from "../discovery/running.ts";
import { PATIENCE } from "../patience.ts";

/** The `Accept` header of a browser. */
const BROWSER = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8";

async function ask(port: number, path: string, accept = BROWSER) {
  const response = await fetch(`http://127.0.0.1:${port}${path}`, { headers: { accept }, redirect: "manual" });
  return { status: response.status, headers: response.headers, body: await response.text() };
}

function entry(name: string, more = ""): string {
  return `apiVersion: networking.mesh.io/v1
kind: ServiceEntry
metadata: { name: ${name}, namespace: x${more} }
spec:
  hosts: [${name}.example.com]
  ports: [{ number: 80, name: http, protocol: HTTP }]
  resolution: STATIC
  endpoints: [{ address: 10.0.0.9, locality: "r1/z1" }]
---
`;
}

/** Pages of every server. */
const PAGES = [
  ...[
    "",
    "/adsz",
    "/authorizationz",
    "/authorizationz?proxyID=a.x",
    "/cachez",
    "/configz",
    "/config_dump?proxyID=a.x",
    "/connections",
    "/endpointShardz",
    "/endpointz",
    "/instancesz",
  ],
  ...["", "resources", "tree", "policies", "request"].map((view) => `/config_dump?proxyID=a.x&view=${view}`),
  ...[
    "/graph",
    "/graph?namespace=x",
    "/inject",
    "/krtz",
    "/live?object=ServiceEntry/x/a",
    "/mesh",
    "/networkz",
    "/problemz",
    "/pushes",
    "/push_status",
    "/registryz",
  ],
  ...[
    "/pushcontext",
    "/resourcesz",
    "/sidecarz?proxyID=a.x",
    "/edsz?proxyID=a.x",
    "/ecdsz?proxyID=a.x",
    "/telemetryz?proxyID=a.x",
    "/scopez",
    "/search?q=a",
    "/syncz",
    "/warningz",
    "/endpointShardz?service=x/a.example.com",
    "/list",
  ],
].map((path) => `/debug${path}`);

Deno.test("every page is HTML with a strict policy for a browser, and unchanged for other clients", async () => {
  await withServer({ "a.yaml": entry("a") }, async ({ ports }) => {
    using _proxy = await TestProxy.attach(ports.grpc);
    for (const port of [ports.http, ports.monitoring]) {
      for (const path of PAGES) {
        const { status, headers, body } = await ask(port, path);
        assert.equal(status, 200, path);
        assert.equal(headers.get("content-type"), "text/html; charset=utf-8", path);
        assert.match(
          headers.get("content-security-policy")!,
          /^default-src 'none'; script-src 'self'; style-src 'self'/,
        );
        assert.equal(headers.get("vary"), "accept");
        assert.match(body, /^\s*<!doctype html>/i);
        assert.doesNotMatch(
          body,
          /<script(?![^>]*src="\/debug\/assets\/page\.js")|<style|\sstyle=|\son\w+=|javascript:/i,
          path,
        );
        assert.doesNotMatch(body, /(?:src|href|action)="(?!\/|#)/, path);
        assert.match(body, /curl &#39;http:\/\/127\.0\.0\.1:\d+\/debug\/[^']*&#39;/, path);
      }
    }
    for (const accept of ["*/*", "application/json", "text/html;q=0, */*"]) {
      // Pages for programs refuse queries of pages for people, because their names are unknown there.
      for (const path of PAGES.slice(1).filter((one) => !/[?&](?:view|service)=/.test(one))) {
        const { headers } = await ask(ports.http, path, accept);
        assert.equal(headers.get("content-type"), "application/json", `${accept} ${path}`);
      }
    }
    // The command of each page works, and gets JSON.
    for (
      const path of [...PAGES, "/debug/configz?q=a&kind=Gateway&page=2", "/debug/config_dump?proxyID=a.x&view=tree&q=a"]
    ) {
      const { body } = await ask(ports.http, path);
      const url = /curl &#39;http:\/\/[^/]*([^ ]*?)&#39;/.exec(body)?.[1]?.replaceAll("&#38;", "&") ?? "";
      const { status, headers } = await ask(ports.http, url, "*/*");
      assert.deepEqual([status, headers.get("content-type")], [200, "application/json"], `${path}: ${url}`);
    }
    const forced = await ask(ports.http, "/debug/syncz?format=json");
    assert.equal(forced.headers.get("content-type"), "application/json");
  });
});

Deno.test("/ leads to the overview, and only this machine and this server's names see more than the list", async () => {
  await withServer({ "a.yaml": entry("a") }, async ({ ports }) => {
    const root = await ask(ports.http, "/");
    assert.deepEqual([root.status, root.headers.get("location")], [302, "/debug"]);
    const { body } = await ask(ports.http, "/debug");
    assert.match(body, /aria-label="Verdict"[\s\S]*No proxy is connected/);
    // A page of another name that resolves to this machine, and a page of another origin.
    for (const headers of [{ host: "evil.example.com" }, { origin: "http://evil.example.com" }]) {
      const answer = await raw(ports.http, "/debug", headers);
      assert.doesNotMatch(answer, /Verdict/);
      for (const path of ["/debug/events", "/debug/assets/page.js", "/debug/configz"]) {
        assert.match(await raw(ports.http, path, headers), /^HTTP\/1\.1 403 /, path);
      }
    }
  });
});

async function raw(port: number, path: string, headers: Readonly<Record<string, string>>): Promise<string> {
  const lines = { host: `127.0.0.1:${port}`, accept: BROWSER, connection: "close", ...headers };
  const text = Object.entries(lines).map(([name, value]) => `${name}: ${value}\r\n`).join("");
  using connection = await Deno.connect({ hostname: "127.0.0.1", port });
  await connection.write(new TextEncoder().encode(`GET ${path} HTTP/1.1\r\n${text}\r\n`));
  return await new Response(connection.readable).text();
}

const HOSTILE = `<script>alert(1)</script><img src=x onerror="alert(2)">'"`;

Deno.test("names, annotations, values and queries of others are text", async () => {
  const files = {
    "a.yaml": entry(
      "a",
      `, annotations: { note: ${JSON.stringify(HOSTILE)} }, labels: { l: ${JSON.stringify(HOSTILE)} }`,
    ),
    "b.yaml": entry("b").replace("name: b,", `name: ${JSON.stringify(HOSTILE)},`),
    "c.yaml": entry("c").replace("number: 80", `number: ${JSON.stringify(HOSTILE)}`),
    "d.yaml": entry("d").replace("[d.example.com]", `[${JSON.stringify(HOSTILE)}]`),
    "e<script>.yaml": entry("e"),
  };
  await withServer(files, async ({ ports, xds }) => {
    // A name of a workload has no spaces; slashes part attributes as well.
    const id = `sidecar~10.0.0.1~${HOSTILE.replaceAll(" ", "/")}.x~x.svc.cluster.local`;
    using _proxy = await TestProxy.attach(ports.grpc, { id });
    const [connection] = [...xds.streams()];
    xds.ledger.rejected(connection!.progress!, {
      ...{ typeUrl: CLUSTER, code: 3, message: HOSTILE, repeated: false, late: false },
      ...{ resources: [HOSTILE], causes: [`ServiceEntry/x/${HOSTILE}`] },
    });
    xds.ledger.failed({ what: HOSTILE, reason: HOSTILE, proxy: HOSTILE });
    connection!.stream!.watches.get(CLUSTER)!.resources.lastError = HOSTILE;
    const text = encodeURIComponent(HOSTILE);
    const queries = [
      `/debug/search?q=${text}`,
      `/debug/configz?q=${text}&kind=${text}&namespace=${text}&state=${text}&page=${text}`,
      `/debug/problemz?q=${text}&severity=${text}&code=${text}`,
      `/debug/syncz?q=${text}&namespace=${text}`,
      `/debug/registryz?q=${text}`,
      `/debug/endpointShardz?service=${text}`,
      `/debug/endpointShardz?service=x/a.example.com&q=${text}`,
      `/debug/config_dump?proxyID=${text}&view=${text}`,
      ...["resources", "tree", "policies", "request"].map((view) =>
        `/debug/config_dump?proxyID=a.x&view=${view}&q=${text}&type=${text}&name=${text}&url=${text}&headers=${text}&address=${text}&method=${text}`
      ),
      `/debug/config_dump?proxyID=a.x&view=request&url=http://a.example.com/${text}&headers=a:${text}&method=${text}`,
      `/debug/live?object=${text}`,
      `/debug/live?object=ServiceEntry/x/${text}`,
      `/debug/${text}`,
    ];
    for (const path of [...PAGES, ...queries]) {
      const { body, headers } = await ask(ports.http, path);
      // Answers other than pages are plain text, which no browser mistakes for another type.
      if (headers.get("content-type") === "text/plain; charset=utf-8") continue;
      assert.doesNotMatch(body, /<script>|<img/, path);
      assert.doesNotMatch(body, /onerror="/, path);
    }
    assert.match((await ask(ports.http, "/debug/problemz")).body, /&#60;script&#62;alert\(1\)/);
    const proxy = `/debug/config_dump?proxyID=${encodeURIComponent(id)}`;
    for (const path of [proxy, "/debug/pushes"]) {
      assert.match((await ask(ports.http, path)).body, /class="mono">&#60;script&#62;alert\(1\)/, path);
    }
    assert.match((await ask(ports.http, "/debug/syncz")).body, /&#60;script&#62;alert\(1\)/);
  });
});

Deno.test("lists are paged and filtered, by an address that is stable", async () => {
  const names = Array.from({ length: 120 }, (_, i) => `e${i}`);
  await withServer({ "a.yaml": names.map((name) => entry(name)).join("") }, async ({ ports }) => {
    const found = async (query: string) => {
      const { body } = await ask(ports.http, `/debug/configz${query}`);
      return [...body.matchAll(/object=ServiceEntry%2Fx%2F(e\d+)"/g)].map(([, name]) => name!);
    };
    const pages = [await found(""), await found("?page=2"), await found("?page=3")];
    assert.deepEqual(pages.map((page) => page.length), [50, 50, 20]);
    assert.deepEqual(new Set(pages.flat()), new Set(names));
    assert.deepEqual(await found("?page=99"), pages[2]);
    assert.deepEqual(await found("?q=e11"), [
      "e11",
      "e110",
      "e111",
      "e112",
      "e113",
      "e114",
      "e115",
      "e116",
      "e117",
      "e118",
      "e119",
    ]);
    assert.deepEqual(await found("?q=e1&kind=Gateway"), []);
    const { body } = await ask(ports.http, "/debug/configz?q=e&page=2");
    assert.match(body, /<a rel="prev" href="\/debug\/configz\?q=e&#38;page=1">/);
  });
});

Deno.test("pages show an object's kind in its author's spelling", async () => {
  const filter = `apiVersion: networking.istio.io/v1alpha3
kind: EnvoyFilter
metadata: { name: f, namespace: x, annotations: { sidecar.istio.io/nonsense: x } }
spec: { workloadSelector: { labels: { app: a } }, configPatches: [] }
---
apiVersion: networking.istio.io/v1
kind: WorkloadEntry
metadata: { name: one, namespace: x }
spec: { address: 10.0.0.1, labels: { app: a } }
`;
  await withServer({ "a.yaml": filter }, async ({ ports }) => {
    for (
      const path of ["configz", "configz?kind=EnvoyFilter&q=EnvoyFilter", "problemz", "live?object=EnvoyFilter/x/f"]
    ) {
      const { body } = await ask(ports.http, `/debug/${path}`);
      // Addresses have keys, with the same spelling everywhere.
      const text = body.replace(/href="[^"]*"/g, "");
      assert.match(text, /EnvoyFilter/, path);
      assert.doesNotMatch(text, /ProxyFilter/, path);
      if (path.startsWith("live")) assert.match(text, /<svg [^>]*EnvoyFilter\/x\/f/, "the picture as well");
    }
  });
});

Deno.test("a service shows its endpoints by locality and health, and a missing service is 404", async () => {
  await withServer({ "a.yaml": entry("a") }, async ({ ports }) => {
    const { body } = await ask(ports.http, "/debug/endpointShardz?service=x/a.example.com");
    assert.match(body, /r1\/z1[\s\S]*1 healthy[\s\S]*10\.0\.0\.9:80/);
    assert.equal((await ask(ports.http, "/debug/endpointShardz?service=x/nothing")).status, 404);
  });
});

Deno.test("an object's page shows the text with its mistakes, the last good version beside a refused version, and related objects", async () => {
  const rule = `apiVersion: networking.mesh.io/v1
kind: VirtualService
metadata: { name: way, namespace: x }
spec:
  hosts: [a.example.com]
  http:
    - timeout: 5s
      route: [{ destination: { host: a.example.com } }]
`;
  await withServer({ "a.yaml": entry("a"), "way.yaml": rule }, async ({ ports, configuration, xds }, folder) => {
    using _proxy = await TestProxy.attach(ports.grpc);
    assert.equal(await xds.ledger.waitLive(0, PATIENCE), true);
    const path = "/debug/live?object=VirtualService/x/way";
    const good = await ask(ports.http, path);
    assert.match(good.body, /In force on 1 of 1 proxies/);
    assert.match(good.body, /<span class="nr">7<\/span> {4}- timeout: 5s<\/span>/);
    assert.match(good.body, /<svg [\s\S]*href="\/debug\/live\?object=ServiceEntry%2Fx%2Fa"/);
    const other = await ask(ports.http, "/debug/live?object=ServiceEntry/x/a");
    assert.match(other.body, /Referred to by \(1\)[\s\S]*VirtualService\/x\/way/);

    await Deno.writeTextFile(`${folder}/way.yaml`, rule.replace("5s", "5 bananas"));
    await configuration.settled();
    const { body } = await ask(ports.http, path);
    assert.match(body, /The present text, refused/);
    assert.match(
      body,
      /class="line marked" id="L7">[\s\S]{0,60}timeout: <mark>5 bananas<\/mark><\/span><span class="note">/,
    );
    assert.match(body, /the last good version<\/h2>[\s\S]*kind: VirtualService[\s\S]*timeout: 5s/);
    assert.match(body, /the newest version is refused/);
    assert.match(body, /✗ Not in force: 1 of 1 proxies have the last good version/);
  });
});

Deno.test("the last good version is in the spelling of its author: group, kind, labels, values, durations", async () => {
  const rule = `apiVersion: networking.istio.io/v1alpha3
kind: DestinationRule
metadata: { name: way, namespace: x, annotations: { proxy.istio.io/note: mine } }
spec:
  host: a.example.com
  trafficPolicy:
    tls: { mode: ISTIO_MUTUAL }
    connectionPool: { tcp: { connectTimeout: 5s } }
    loadBalancer: { localityLbSetting: { failoverPriority: [topology.istio.io/network] } }
`;
  await withServer({ "a.yaml": entry("a"), "way.yaml": rule }, async ({ ports, configuration }, folder) => {
    await Deno.writeTextFile(`${folder}/way.yaml`, rule.replace("5s", "5 bananas"));
    await configuration.settled();
    const { body } = await ask(ports.http, "/debug/live?object=DestinationRule/x/way");
    const [, good = ""] = /the last good version<\/h2><pre>([\s\S]*?)<\/pre>/.exec(body) ?? [];
    const read = parseYaml(good.replaceAll("&#39;", "'").replaceAll("&#34;", '"'));
    assert.deepEqual("tree" in read ? read.tree : read, (parseYaml(rule) as { tree: unknown }).tree);
  });
});

Deno.test("selectors of gateways and policies link to workload entries, connected proxies and named targets", async () => {
  const world = `${entry("a")}apiVersion: networking.mesh.io/v1
kind: WorkloadEntry
metadata: { name: one, namespace: x, labels: { app: one } }
spec: { address: 10.0.0.1 }
---
apiVersion: security.mesh.io/v1
kind: AuthorizationPolicy
metadata: { name: allow, namespace: x }
spec: { selector: { matchLabels: { app: one } } }
---
apiVersion: security.mesh.io/v1
kind: AuthorizationPolicy
metadata: { name: elsewhere, namespace: y }
spec: { selector: { matchLabels: { app: one } } }
---
apiVersion: security.mesh.io/v1
kind: AuthorizationPolicy
metadata: { name: target, namespace: x }
spec: { targetRefs: [{ kind: ServiceEntry, group: networking.mesh.io, name: a }] }
---
apiVersion: networking.mesh.io/v1
kind: Gateway
metadata: { name: door, namespace: y }
spec: { selector: { app: one }, servers: [{ port: { number: 80, name: http, protocol: HTTP }, hosts: ["*"] }] }
`;
  await withServer({ "world.yaml": world }, async ({ ports, xds }) => {
    const node = { id: "sidecar~10.0.0.1~one.x~x.svc.cluster.local", metadata: struct({ LABELS: { app: "one" } }) };
    using _proxy = await TestProxy.attach(ports.grpc, node);
    assert.equal(await xds.ledger.waitLive(0, PATIENCE), true);
    const ties = async (object: string) => {
      const { body } = await ask(ports.http, `/debug/live?object=${object}`);
      const list = (title: string) =>
        new RegExp(`${title} \\(\\d+\\)</summary><ul>([\\s\\S]*?)</ul>`).exec(body)?.[1]?.replace(/<[^>]*>/g, " ")
          .trim()
          .split(/\s{2,}/).toSorted() ?? [];
      return { to: list("Refers to"), by: list("Referred to by") };
    };
    assert.deepEqual((await ties("AuthorizationPolicy/x/allow")).to, ["WorkloadEntry/x/one", "proxy x/one"]);
    assert.deepEqual((await ties("AuthorizationPolicy/y/elsewhere")).to, []);
    assert.deepEqual((await ties("AuthorizationPolicy/x/target")).to, ["ServiceEntry/x/a"]);
    assert.deepEqual((await ties("Gateway/y/door")).to, ["WorkloadEntry/x/one", "proxy x/one"]);
    assert.deepEqual((await ties("WorkloadEntry/x/one")).by, ["AuthorizationPolicy/x/allow", "Gateway/y/door"]);
  });
});

Deno.test("a known object that was never in force has a page, and an unknown object is 404", async () => {
  const broken = entry("a").replace("number: 80", "number: 800000");
  await withServer({ "a.yaml": broken }, async ({ ports }) => {
    const { status, body } = await ask(ports.http, "/debug/live?object=ServiceEntry/x/a");
    assert.equal(status, 200);
    assert.match(body, /No version is in force[\s\S]*The present text, refused[\s\S]*800000/);
    const nothing = await ask(ports.http, "/debug/live?object=ServiceEntry/x/nothing");
    assert.equal(nothing.status, 404);
    assert.match(nothing.body, /No version is in force[\s\S]*There is no such object[\s\S]*None of the last pushes/);
    assert.doesNotMatch(nothing.body, /refused<\/h2>|no push/);
    assert.equal((await ask(ports.http, "/debug/live?object=Nothing/x/a")).status, 400);
  });
});

Deno.test("the page of injection shows the source of its configuration, every mistake in it, and the pods without a proxy", async () => {
  await withServer({}, async ({ ports }, _, kernel) => {
    await kernel.readiness.whenReady;
    const { body } = await ask(ports.http, "/debug/inject");
    assert.match(body, /Configuration: built in/);
    assert.match(body, /Every pod that should have a proxy has one\./);
    assert.match(body, /policy/);
  }, { options: { webhooks: "" } });
  const missed = Array.from(
    { length: 60 },
    (_, i) => ({ namespace: "shop", pod: `cart-${i}`, owner: "ReplicaSet/<b>" }),
  );
  const configuration = { place: "config map a/b", config: {}, values: {}, problems: ["config: policy: got <i>"] };
  const view = { injection: { configuration, missed: () => missed } } as unknown as DebugView;
  const made = async (query: string) => {
    const request = { path: "/debug/inject", query: new URLSearchParams(query) } as HttpRequest;
    return (await injectionPage(request, view)).body.text;
  };
  const first = await made("");
  assert.match(
    first,
    /config map a\/b[^]*the last good configuration is in force[^]*got &#60;i&#62;[^]*cart-0[^]*ReplicaSet\/&#60;b&#62;/,
  );
  assert.match(first, /60 in all/);
  assert.match(await made("q=cart-7"), /cart-7[^]*1 in all/);
});
