/** Debug pages on discovery's streams: the rights of clients, by the settings of a server. */
import assert from "node:assert/strict";
import type protobuf from "protobufjs";
import { PAGES } from "../../lib/debug/pages.ts";
import { askedPage } from "../../lib/debug/asked_page.ts";
import type { SettingsOf } from "../../lib/kernel/settings/catalogue.ts";
import { messageJson } from "../../lib/pb/json.ts";
import type { QuestionClient } from "./question_client.ts";
import { definitions } from "./definitions.ts";
import { PATIENCE } from "../patience.ts";
import { page } from "./running.ts";
import { idOf, withTokenClients } from "./token_clients.ts";

const entry = `apiVersion: networking.mesh.io/v1
kind: ServiceEntry
metadata: { name: a, namespace: x }
spec:
  hosts: [a.example.com]
  ports: [{ number: 80, name: http, protocol: HTTP }]
  resolution: STATIC
  endpoints: [{ address: 10.0.0.9 }]
`;

const withClients = (
  run: Parameters<typeof withTokenClients>[1],
  settings: Partial<SettingsOf<"pilot-discovery">> = {},
) => withTokenClients({ "a.yaml": entry }, run, settings);

Deno.test("who may ask: the system's identities for everything, others for pages of proxies with their identity", async () => {
  await withClients(async (connect, { xds }) => {
    await Promise.all([
      connect("cart-1", "shop", "cart").then((proxy) => proxy.subscribe()),
      connect("bank-1", "shop", "bank").then((proxy) => proxy.subscribe()),
    ]);
    assert.equal(xds.ledger.live(0).total, 2);
    const ask = async (name: string, namespace: string, account: string) =>
      await (await connect("tool-1", namespace, account)).page(name);
    const clusters = /outbound\|80\|\|a\.example\.com/;
    const notShown = /^no proxy whose connection id contains "[a-z]+-1" is connected here/;
    const rows: [string, RegExp, RegExp][] = [
      // page, for shop/cart, for the system
      ["config_dump?proxyID=cart-1&types=cds", clusters, clusters],
      ["config_dump?proxyID=bank-1&types=cds", notShown, clusters],
      ["edsz?proxyID=cart-1", /^\{"configs":\[/, /^\{"configs":\[/],
      ["edsz?proxyID=bank-1", notShown, /^\{"configs":\[/],
      ["ndsz?proxyID=cart-1", /asks for no table of names/, /asks for no table of names/],
      ["ndsz?proxyID=bank-1", notShown, /asks for no table of names/],
      ["syncz", /^PermissionDenied$/, /"proxy":"bank-1.shop"/],
      ["adsz?proxyID=cart-1", /^PermissionDenied$/, /"totalClients":1/],
      ["ecdsz?proxyID=cart-1", /^PermissionDenied$/, /^\{"configs":\[\]\}/],
      ["sidecarz?proxyID=cart-1", /^PermissionDenied$/, /"egressListenerServices":\[\["a\.example\.com"\]\]/],
      ["authorizationz", /^PermissionDenied$/, /^\{"authorization_policies":\{/],
      ["pushcontext", /^PermissionDenied$/, /^\{"AuthorizationPolicies":\{/],
      ["cachez", /^PermissionDenied$/, /outbound\|80\|\|a\.example\.com/],
      ["cachez?clear=true", /^PermissionDenied$/, /POST/],
      ["list", /^PermissionDenied$/, /^\["adsz",.*"config_dump"/],
      ["no_such_page", /^PermissionDenied$/, /^no page no_such_page; list has them\n$/],
      ["../../etc/passwd", /^PermissionDenied$/, /^no page/],
      ["force_disconnect?proxyID=cart-1", /^PermissionDenied$/, /^no page/],
      ["preview", /^PermissionDenied$/, /^no page preview/],
      ["adsz?push=any", /^PermissionDenied$/, /POST/],
      ["config_dump?proxyID=", /^query proxyID: got ""/, /^query proxyID: got ""/],
      ["config_dump", /^query proxyID is missing/, /^query proxyID is missing/],
    ];
    for (const [name, own, system] of rows) {
      assert.match(await ask(name, "shop", "cart"), own, name);
      assert.match(await ask(name, "mesh-system", "operator"), system, name);
      assert.equal(await ask(name, "shop", ""), "Unauthenticated", name);
      assert.match(await ask(name, "elsewhere", "cart"), /^PermissionDenied$|^no proxy|^query /, name);
    }
  }, { UNSAFE_ENABLE_ADMIN_ENDPOINTS: true, XDS_AUTH: true });
});

Deno.test("a question names one page of a known type, and the asking node has proven its identity", async () => {
  await withClients(async (connect) => {
    const refusal = async (client: QuestionClient, typeUrl: string, ...names: string[]) => {
      const [code, why] = await client.resources(typeUrl, ...names);
      return `${code}: ${why}`;
    };
    const tool = () => connect("tool-1", "mesh-system", "operator");
    assert.match(await refusal(await tool(), "istio.io/debug"), /^InvalidArgument: .*resource_names: got 0, expected/);
    assert.match(await refusal(await tool(), "istio.io/debug", "syncz", "list"), /resource_names: got 2, expected the/);
    assert.match(await refusal(await tool(), "istio.io/debug/x"), /type_url: got "istio.io\/debug\/x", expected/);
    const liar = await connect("tool-1", "shop", "cart");
    assert.match(await refusal(liar, "istio.io/debug", "list"), /^PermissionDenied: .*identity|another namespace/);
  });
});

Deno.test("with identities unchecked, or with the pages off, no question is answered", async () => {
  const asked = (settings: Partial<SettingsOf<"pilot-discovery">>) =>
    withClients(async (connect) => {
      const tool = await connect("tool-1", "mesh-system", "operator");
      assert.equal(
        await tool.page("list"),
        settings.ENABLE_DEBUG_ON_HTTP === false ? "Unimplemented" : "Unauthenticated",
      );
    }, settings);
  await asked({ PILOT_ENABLE_XDS_IDENTITY_CHECK: false });
  await asked({ XDS_AUTH: false });
  await asked({ XDS_AUTH_PLAINTEXT: false });
  await asked({ ENABLE_DEBUG_ON_HTTP: false });
});

Deno.test("a proxy asks on its own stream, and a refusal there is a text", async () => {
  await withClients(async (connect) => {
    const proxy = await connect("cart-1", "shop", "cart");
    await proxy.subscribe();
    assert.match(await proxy.page("config_dump?proxyID=cart-1"), /^\{"configs":\[/);
    assert.match(
      await proxy.page("syncz"),
      /^page "syncz": expected one of config_dump, ndsz, edsz, as spiffe:.* is of/,
    );
    assert.match(await proxy.page("edsz?proxyID=cart-1"), /^\{"configs":\[/, "the stream goes on");
  });
});

Deno.test("pages over a stream equal the pages of the HTTP port, byte for byte; tools are not listed as proxies", async () => {
  await withClients(async (connect, { ports, xds }) => {
    const proxy = await connect("cart-1", "shop", "cart");
    await proxy.subscribe();
    // The acknowledgement comes on another connection than the questions.
    assert.equal(await xds.ledger.waitLive(0, PATIENCE), true);
    const tool = await connect("tool-1", "mesh-system", "operator");
    for (const name of ["config_dump?proxyID=cart-1&include_eds", "connections", "edsz?proxyID=cart-1&pretty"]) {
      assert.equal(await tool.page(name), (await page(ports.http, `/debug/${name}`)).body, name);
    }
    assert.equal(JSON.parse(await tool.page("connections")).totalClients, 1);
  });
});

Deno.test("istio.io/debug/syncz is the status of proxies as Envoy's client status service has it", async () => {
  const root = await definitions("envoy/service/status/v3/csds.proto");
  const ClientConfig = root.lookupType("envoy.service.status.v3.ClientConfig");
  await withClients(async (connect, { xds }) => {
    const cart = await connect("cart-1", "shop", "cart");
    await cart.subscribe();
    await (await connect("bank-1", "shop", "bank")).subscribe();
    // The acknowledgements come on other connections than the questions.
    assert.equal(await xds.ledger.waitLive(0, PATIENCE), true);
    const rows = async (namespace: string, account: string) => {
      const tool = await connect("tool-1", namespace, account);
      const resources = await tool.resources("istio.io/debug/syncz");
      return resources.map((one) => {
        assert(typeof one === "object", String(one));
        assert.equal(one.type_url, "type.googleapis.com/envoy.service.status.v3.ClientConfig");
        return ClientConfig.toObject(ClientConfig.decode(one.value), { enums: String, longs: Number });
      });
    };
    const all = await rows("mesh-system", "operator");
    assert.deepEqual(all.map(({ node }) => node.id).sort(), [idOf("bank-1", "shop"), idOf("cart-1", "shop")]);
    const [own, ...more] = await rows("shop", "cart");
    assert.equal(more.length, 0);
    assert.equal(own!.node.id, idOf("cart-1", "shop"));
    assert.equal(own!.node.metadata.fields.CLUSTER_ID.stringValue, "Orch");
    const [clusters] = own!.generic_xds_configs;
    assert.match(clusters.type_url, /Cluster$/);
    assert.equal(clusters.config_status, "SYNCED");
    assert.ok(Math.abs(clusters.last_updated.seconds - Date.now() / 1000) < 60);
  });
});

/** The parts of a dump by the last word of their type. */
async function dumpParts(
  client: QuestionClient,
  name: string,
): Promise<Record<string, ReturnType<protobuf.Type["toObject"]>>> {
  const root = await definitions("envoy/admin/v3/config_dump.proto");
  const resources = await client.resources("istio.io/debug/config_dump", name);
  return Object.fromEntries(resources.map((one) => {
    assert(typeof one === "object", String(one));
    const type = one.type_url.replace("type.googleapis.com/", "");
    // On the wire an empty message is no field.
    const message = root.lookupType(type);
    return [type.split(".").at(-1)!, message.toObject(message.decode(one.value ?? new Uint8Array()))];
  }));
}

Deno.test("istio.io/debug/config_dump is the dump of one proxy as Envoy's messages, with the contents of the page", async () => {
  await withClients(async (connect) => {
    await (await connect("cart-1", "shop", "cart")).subscribe();
    const tool = await connect("tool-1", "mesh-system", "operator");
    const parts = await dumpParts(tool, "cart-1.shop");
    assert.deepEqual(Object.keys(parts).sort(), [
      ...["BootstrapConfigDump", "ClustersConfigDump", "EcdsConfigDump", "ListenersConfigDump", "RoutesConfigDump"],
      ...["ScopedRoutesConfigDump", "SecretsConfigDump"],
    ]);
    const { configs } = JSON.parse(await tool.page("config_dump?proxyID=cart-1"));
    const page = configs.find((one: { "@type": string }) => one["@type"].endsWith("ClustersConfigDump"));
    const clusters = parts["ClustersConfigDump"]!;
    assert.equal(clusters.version_info, page.version_info);
    const decoded = (value: Uint8Array) => messageJson("envoy.config.cluster.v3.Cluster", value);
    assert.deepEqual(
      clusters.dynamic_active_clusters.map(({ version_info, cluster }: Json<"version_info" | "cluster">) => ({
        version_info,
        cluster: { "@type": cluster.type_url, ...decoded(cluster.value) },
      })),
      page.dynamic_active_clusters,
    );
    assert.ok(page.dynamic_active_clusters.length > 2);
    // A client may have resources without watching them.
    assert.ok(parts["ListenersConfigDump"]!.dynamic_listeners.length > 0);
  });
});

Deno.test("who may ask for a dump: the system of every proxy, others of their own; who is not connected is named", async () => {
  await withClients(async (connect) => {
    await (await connect("cart-1", "shop", "cart")).subscribe();
    await (await connect("bank-1", "shop", "bank")).subscribe();
    const ask = async (namespace: string, account: string, ...names: string[]) => {
      const [first] = await (await connect("tool-1", namespace, account)).resources(
        "istio.io/debug/config_dump",
        ...names,
      );
      if (typeof first !== "object") return first;
      return first.type_url.endsWith("ConfigDump") ? "a dump" : new TextDecoder().decode(first.value);
    };
    assert.equal(await ask("mesh-system", "operator", "bank-1.shop"), "a dump");
    assert.equal(await ask("shop", "bank", "bank-1.shop"), "a dump");
    // Tools made for Istio search these words and then ask the next server.
    const absent =
      /^no proxy whose [^]*Proxy not connected to this Pilot instance\. It may be connected to another inst/;
    assert.match(String(await ask("shop", "cart", "bank-1.shop")), absent);
    assert.match(String(await ask("mesh-system", "operator", "nobody")), absent);
    assert.equal(await ask("shop", "", "cart-1.shop"), "Unauthenticated");
    for (const names of [[], [""], ["cart-1", "bank-1"]]) {
      assert.equal(await ask("mesh-system", "operator", ...names), "InvalidArgument");
    }
  });
});

Deno.test("answers name the server, for tools that ask several; the first response with configuration has its text", async () => {
  await withClients(async (connect) => {
    const tool = await connect("tool-1", "mesh-system", "operator");
    await tool.page("list");
    const { Component, ID, Info } = JSON.parse(tool.responses[0]!.control_plane!.identifier);
    assert.deepEqual([Component, ID, Object.keys(Info)], ["pilot-discovery", "meshd-7", [
      ...["version", "revision", "status", "tag", "golang_version"],
    ]]);
    const proxy = await connect("cart-1", "shop", "cart");
    await proxy.subscribe();
    assert.match(proxy.responses[0]!.control_plane!.identifier, /^pilot-discovery \d/);
  }, { POD_NAME: "meshd-7" });
});

Deno.test("a page that is too long is refused before it is whole", async () => {
  await withClients(async (connect, server) => {
    await (await connect("cart-1", "shop", "cart")).subscribe();
    const { signal } = new AbortController();
    // The pages use only the streams of the view.
    const view = { xds: server.xds } as unknown as Parameters<typeof askedPage>[1]["view"];
    const page = await askedPage("config_dump?proxyID=cart-1", { view, audience: {}, longest: 100, signal });
    assert(!("runs" in page) && page.refused === "too long", JSON.stringify(page));
    assert.match(page.why, /^page "config_dump" has more than 0\.\d+ MiB: ask for a part of it$/);
  });
});

Deno.test("a confined client may ask only for pages that show one proxy, chosen by its connection", () => {
  assert.deepEqual(PAGES.filter(({ ofProxy }) => ofProxy).map(({ path }) => path), ["config_dump", "ndsz", "edsz"]);
  for (const { ofProxy, methods = ["GET"] } of PAGES) if (ofProxy) assert.deepEqual(methods, ["GET"]);
});

/** A JSON message with the named fields. */
// deno-lint-ignore no-explicit-any -- fields of messages that the test defines no types for
type Json<Names extends string> = Readonly<Record<Names, any>>;
