/** Events about clients of a running server: recipients and subjects. */
import assert from "node:assert/strict";
import type { SettingsOf } from "../../lib/kernel/settings/catalogue.ts";
import { decode } from "../../lib/pb/reflect.ts";
import type { QuestionClient } from "./question_client.ts";
import { withTokenClients } from "./token_clients.ts";
import { until } from "../patience.ts";

const CONNECT = "istio.io/connect", DISCONNECT = "istio.io/disconnect", REJECT = "istio.io/nack";
const withClients = (
  run: Parameters<typeof withTokenClients>[1],
  settings: Partial<SettingsOf<"pilot-discovery">> = {},
) => withTokenClients({}, run, settings);

/** The events that a client has heard: type and workload of each event. */
function heard({ responses }: QuestionClient): string[] {
  return responses.flatMap(({ type_url, resources = [] }) =>
    resources.map(({ type_url: type, value }) => {
      const message = decode<{ id?: string; node?: { id: string }; error_detail?: { message: string } }>(
        type.split("/")[1]!,
        value,
      );
      const id = (message.id ?? message.node!.id).split("~")[2];
      return `${type_url.slice("istio.io/".length)} ${id}${
        message.error_detail ? ` ${message.error_detail.message}` : ""
      }`;
    })
  );
}

Deno.test("the system's namespace gets the events of every client that connects, rejects or disconnects; another namespace only the events of clients with its identity", async () => {
  await withClients(async (connect, { xds }) => {
    await (await connect("cart-1", "shop", "cart")).subscribe();
    const system = await connect("tool-1", "mesh-system", "operator", "event");
    const own = await connect("tool-2", "shop", "cart", "event");
    for (const one of [system, own]) for (const type of [CONNECT, DISCONNECT, REJECT]) one.watch(type);
    await until("the first list", () => heard(system).length + heard(own).length === 2);
    const bank = await connect("bank-1", "shop", "bank");
    await bank.subscribe();
    await until("the new client", () => heard(system).includes("connect bank-1.shop"));
    bank.reject("bad clusters");
    await until("the rejection", () => heard(system).includes("nack bank-1.shop bad clusters"));
    bank[Symbol.dispose]();
    await until("the end", () => heard(system).includes("disconnect bank-1.shop"));
    await (await connect("cart-2", "shop", "cart")).subscribe();
    await until("the client of the same identity", () => heard(own).length === 2);
    assert.deepEqual(heard(own), ["connect cart-1.shop", "connect cart-2.shop"]);
    assert.equal([...xds.streams()].length, 2, "whoever listens is no proxy");
    assert.equal(xds.ledger.live(0).total, 2);
  });
});

Deno.test("without an identity, or with the pages off, a client gets no events; for a proxy the types are unknown", async () => {
  const asked = (account: string, settings: Partial<SettingsOf<"pilot-discovery">> = {}) =>
    withClients(async (connect) => {
      const tool = await connect("tool-1", "mesh-system", account, "event");
      const [code] = await tool.resources(CONNECT);
      assert.equal(code, settings.ENABLE_DEBUG_ON_HTTP === false ? "Unimplemented" : "Unauthenticated");
    }, settings);
  await asked("");
  await asked("operator", { XDS_AUTH_PLAINTEXT: false });
  await asked("operator", { ENABLE_DEBUG_ON_HTTP: false });
  await withClients(async (connect) => {
    const proxy = await connect("cart-1", "shop", "cart");
    await proxy.subscribe();
    proxy.watch(CONNECT);
    await (await connect("cart-2", "shop", "cart")).subscribe();
    await proxy.page("config_dump?proxyID=cart-1");
    assert.deepEqual(proxy.responses.filter(({ type_url }) => type_url === CONNECT), []);
  });
});

Deno.test("a control plane gets events about clients on the stream of its configuration; a control plane without an identity keeps the stream", async () => {
  const KIND = "networking.istio.io/v1/Gateway";
  await withClients(async (connect) => {
    await (await connect("cart-1", "shop", "cart")).subscribe();
    const other = await connect("plane-1", "mesh-system", "operator", "api");
    await other.resources(KIND);
    other.watch(CONNECT);
    await until("the list", () => other.responses.some(({ type_url }) => type_url === CONNECT));
    assert.ok(heard(other).includes("connect cart-1.shop"));
  });
  await withClients(async (connect) => {
    const nobody = await connect("plane-2", "mesh-system", "", "api");
    await nobody.resources(KIND);
    nobody.watch(CONNECT);
    assert.equal((await nobody.resources("networking.istio.io/v1/VirtualService")).length, 0);
    assert.deepEqual(nobody.responses.map(({ type_url }) => type_url), [KIND, "networking.istio.io/v1/VirtualService"]);
  }, { XDS_AUTH_PLAINTEXT: false });
});
