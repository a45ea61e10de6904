/** The commands `proxy-status` and `proxy-config` as processes, at running servers and on files. */
import assert from "node:assert/strict";
import { TestProxy } from "../debug/proxy.ts";
import { withServer } from "../discovery/running.ts";
import { example } from "./mesh_of.ts";
import { pilotDiscovery } from "../cmd/offline.ts";

const CART = { id: "sidecar~10.0.0.5~cart.shop~shop.svc.cluster.local", metadata: {} };
/** The name of the cart's proxy ends the name of this one. */
const OTHER = { id: "sidecar~10.0.0.8~minicart.shop~shop.svc.cluster.local", metadata: {} };
const EMPTY = { "a.yaml": "" };

Deno.test("proxy-status lists the proxies of all servers, and 1 says that a proxy is not in sync", async () => {
  await withServer(example("shop"), async (first) => {
    await withServer(EMPTY, async (second) => {
      using _cart = await TestProxy.attach(first.ports.grpc, CART);
      using _other = await TestProxy.attach(second.ports.grpc, OTHER, "I do not take this");
      const servers = [first, second].map(({ ports }) => `127.0.0.1:${ports.http}`);
      const [all, one, json, missing, none] = await Promise.all([
        pilotDiscovery(["proxy-status", ...servers.map((at) => `--server=${at}`)]),
        pilotDiscovery(["proxy-status", "cart.shop", `--server=${servers[0]}`]),
        pilotDiscovery(["proxy-status", "minicart", `--server=${servers[1]}`, "-o", "json"]),
        pilotDiscovery(["proxy-status", "cart.shop", `--server=${servers[1]}`]),
        pilotDiscovery(["proxy-status", "-n=other", `--server=${servers[0]}`]),
      ]);
      const lines = all!.out.split("\n");
      assert.equal(all!.code, 1);
      assert.match(lines[0]!, /^NAME +CLUSTER +CDS +LDS +EDS +RDS +ECDS +MESHD +VERSION$/);
      assert.match(lines[1]!, new RegExp(`^cart\\.shop +Orch +SYNCED \\(\\d+s\\) +IGNORED .* ${servers[0]}$`));
      assert.match(lines[2]!, new RegExp(`^minicart\\.shop +Orch +ERROR .* ${servers[1]}$`));
      assert.match(lines[3]!, /^minicart\.shop rejects: .*I do not take this/);
      assert.deepEqual([one!.code, one!.out.split("\n").length], [0, 3]);
      const [row] = JSON.parse(json!.out).proxies;
      assert.deepEqual([row.name, row.synced, row.status.CDS, row.status.RDS], [
        "minicart.shop",
        false,
        "ERROR",
        "IGNORED",
      ]);
      assert.deepEqual([missing!.code, missing!.out], [2, ""]);
      assert.match(missing!.err, /no proxy cart\.shop is connected to 127\.0\.0\.1:\d+, which has minicart\.shop\n$/);
      assert.deepEqual([none!.code, none!.out], [0, "no proxy is connected\n"]);
    });
  });
});

Deno.test("proxy-config has the resources of exactly the named proxy, by either spelling, as a table and as JSON", async () => {
  await withServer(example("shop"), async ({ ports }) => {
    using _other = await TestProxy.attach(ports.grpc, OTHER);
    using _cart = await TestProxy.attach(ports.grpc, CART);
    const server = `--server=127.0.0.1:${ports.http}`;
    const run = (...args: string[]) => pilotDiscovery(["proxy-config", ...args, server]);
    const [clusters, subset, routes, endpoints, listeners, json, unknown, noName] = await Promise.all([
      run("clusters", "cart.shop"),
      run("c", "shop/cart", "--subset=v1"),
      run("routes", "cart.shop", "--name=80"),
      run("ep", "cart.shop", "--cluster=outbound|80|v2|reviews.shop.svc.cluster.local"),
      run("listeners", "cart.shop", "--port=80"),
      run("routes", "cart.shop", "--name=80", "-o=json"),
      run("clusters", "art.shop"),
      run("clusters", "cart"),
    ]);
    assert.match(clusters!.out, /^SERVICE FQDN +PORT +SUBSET +DIRECTION +TYPE +DESTINATION RULE\n/);
    assert.match(
      subset!.out,
      /\nreviews\.shop\.svc\.cluster\.local +80 +v1 +outbound +EDS +reviews\.shop\n$/,
    );
    assert.match(routes!.out, /\n80 +reviews\.\S+:80 +reviews, 10\.96\.0\.10 +\/\*, header x-beta +reviews\.shop\n/);
    assert.match(endpoints!.out, /^ENDPOINT .*\n10\.0\.0\.7:9080 +HEALTHY +- +outbound\|80\|v2\|\S+\n$/);
    assert.match(listeners!.out, /\n0\.0\.0\.0 +80 +Trans: raw_buffer; App: http\/1\.1,h2c +Route: 80\n/);
    const resources = JSON.parse(json!.out) as { name: string }[];
    assert.deepEqual(resources.map(({ name }) => name), ["80"]);
    assert.deepEqual([unknown!.code, unknown!.out], [2, ""]);
    assert.match(unknown!.err, /no proxy whose connection id contains "~art\.shop~"/);
    assert.match(noName!.err, /got "cart", expected name\.namespace or namespace\/name\n$/);
  });
});

Deno.test("mistakes of the command line and of files are refused with what was expected", async () => {
  const files = { "text.json": "{", "other.json": `{"configs":[]}` };
  const dump = { configs: [{ "@type": "type.googleapis.com/envoy.admin.v3.ListenersConfigDump" }] };
  const cases: [string[], RegExp][] = [
    [["clusters"], /got no proxy, expected one of <name\.namespace>, --file and --admin/],
    [["clusters", "a.b", "-f=x"], /got a\.b and file, expected one of/],
    [["clusters", "-f=x", "--server=:1"], /flag --server: got no <name\.namespace>/],
    [["clusters", "-f=x"], /flag --file: x: no such file/],
    [["clusters", "-f=text.json"], /text\.json: .*expected the page \/config_dump of Envoy as JSON/],
    [["clusters", "-f=other.json"], /other\.json: got JSON of another form, expected the whole page \/config_dump/],
    [["endpoints", "-f=-"], /standard input: has no endpoints, expected \/config_dump\?include_eds/],
    [["bootstrap"], /got no source, expected --file or --admin/],
    [["bootstrap", "-f=-"], /standard input: has no bootstrap/],
    [["clusters", "a.b", "--server=x"], /flag --server: got "x", expected host:port/],
    [["log", "--level=http:loud,a.b:debug"], /got "http:loud".*\n.*got "a\.b:debug"/],
    [["log", "--level=debug", "--reset"], /level.*reset/],
  ];
  await Promise.all(cases.map(async ([args, message]) => {
    const { code, out, err } = await pilotDiscovery(["proxy-config", ...args], { files, stdin: JSON.stringify(dump) });
    assert.deepEqual({ args, code, out }, { args, code: 2, out: "" });
    assert.match(err, message);
  }));
});
