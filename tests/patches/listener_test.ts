/** Patches of listeners and their parts. */
import assert from "node:assert/strict";
import type { envoy } from "../../proto/gen/types.ts";
import { hasChains, patchListener } from "../../lib/patches/listener.ts";
import { any } from "../../lib/pb/codec.ts";
import { decodeApi } from "../../lib/pb/envoy_api.ts";
import { Outcomes, patchesOf, type WrittenPatch } from "./patches.ts";

type Listener = envoy.config.listener.v3.Listener;
type FilterChain = envoy.config.listener.v3.FilterChain;

const HCM = "envoy.filters.network.http_connection_manager";
const MANAGER = "envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager";
const ROUTER = "envoy.extensions.filters.http.router.v3.Router";
const TCP_PROXY = "envoy.extensions.filters.network.tcp_proxy.v3.TcpProxy";

/** A chain for requests with the given HTTP filters. */
function requests(...names: readonly string[]): FilterChain {
  const http_filters = names.map((name) => ({ name, typed_config: any(ROUTER, {}) }));
  return { filters: [{ name: "first" }, { name: HCM, typed_config: any(MANAGER, { http_filters }) }] };
}

function listener(port: number, ...filter_chains: readonly FilterChain[]): Listener {
  return { name: "l", address: { socket_address: { port_value: port } }, filter_chains: [...filter_chains] };
}

function patched(before: Listener, ...written: readonly WrittenPatch[]): Listener | undefined {
  return patchListener(before, patchesOf(...written), "SIDECAR_OUTBOUND", () => {});
}

/** Names of the filters of each chain, with HTTP filters in brackets. */
function filtersOf(after: Listener | undefined): string[] {
  return (after?.filter_chains ?? []).map(({ filters = [] }) =>
    filters.map(({ name, typed_config }) => {
      if (name !== HCM) return name;
      const { http_filters = [] } = decodeApi(MANAGER, typed_config!.value as Uint8Array) as {
        http_filters?: readonly { readonly name: string }[];
      };
      return `[${http_filters.map((filter) => filter.name).join(" ")}]`;
    }).join(" ")
  );
}

const NEW = { name: "new", typed_config: { "@type": `type.googleapis.com/${ROUTER}` } };
const http = (operation: string, sub?: string, value: object | undefined = NEW): WrittenPatch => ({
  applyTo: "HTTP_FILTER",
  match: { listener: { filterChain: { filter: { name: HCM, ...(sub ? { subFilter: { name: sub } } : {}) } } } },
  patch: { operation, ...(operation === "REMOVE" ? {} : { value }) },
});

Deno.test("where HTTP filters come, by operation and by whether the patch names one", () => {
  const cases: readonly (readonly [string, string | undefined, string])[] = [
    ["ADD", undefined, "a b a new"],
    ["ADD", "b", "a b a new"],
    ["INSERT_FIRST", undefined, "new a b a"],
    ["INSERT_FIRST", "b", "new a b a"],
    ["INSERT_BEFORE", "a", "new a b a"],
    ["INSERT_BEFORE", "b", "a new b a"],
    ["INSERT_BEFORE", "c", "a b a"],
    ["INSERT_BEFORE", undefined, "new a b a"],
    ["INSERT_AFTER", "a", "a new b a"],
    ["INSERT_AFTER", "c", "a b a"],
    ["INSERT_AFTER", undefined, "a b a new"],
    ["REPLACE", "a", "new b a"],
    ["REPLACE", "c", "a b a"],
    ["REPLACE", undefined, "a b a"],
    ["REMOVE", "a", "b"],
    ["REMOVE", "c", "a b a"],
    ["REMOVE", undefined, "a b a"],
  ];
  for (const [operation, sub, expected] of cases) {
    const after = patched(listener(80, requests("a", "b", "a")), http(operation, sub));
    assert.deepEqual(filtersOf(after), [`first [${expected}]`], `${operation} ${sub}`);
  }
});

Deno.test("network filters are patched alike, before the HTTP filters in them", () => {
  const network = (operation: string, name?: string): WrittenPatch => ({
    applyTo: "NETWORK_FILTER",
    ...(name ? { match: { listener: { filterChain: { filter: { name } } } } } : {}),
    patch: { operation, ...(operation === "REMOVE" ? {} : { value: { ...NEW } }) },
  });
  const before = listener(80, requests("a"));
  assert.deepEqual(filtersOf(patched(before, network("INSERT_BEFORE", HCM))), ["first new [a]"]);
  assert.deepEqual(filtersOf(patched(before, network("INSERT_BEFORE"))), ["new first [a]"]);
  assert.deepEqual(filtersOf(patched(before, network("ADD"), http("INSERT_FIRST"))), ["first [new a] new"]);
  assert.deepEqual(filtersOf(patched(before, network("REPLACE", "first"), network("REMOVE", HCM))), ["new"]);
});

Deno.test("merges run after inserts and hit what was inserted; lists grow, a name of the patch renames the filter", () => {
  const merge = http("MERGE", "new", {
    name: "renamed",
    typed_config: { "@type": `type.googleapis.com/${ROUTER}`, strict_check_headers: ["x-envoy-retry-on"] },
  });
  const after = patched(listener(80, requests("a")), merge, http("ADD"));
  assert.deepEqual(filtersOf(after), ["first [a renamed]"]);
});

Deno.test("a merge into a filter without configuration of its own, or of another type, does nothing or fails", () => {
  const before = listener(80, { filters: [{ name: "x" }, { name: "y", typed_config: any(TCP_PROXY, {}) }] });
  const merge: WrittenPatch = { applyTo: "NETWORK_FILTER", patch: { operation: "MERGE", value: { ...NEW } } };
  const outcomes = new Outcomes();
  assert.equal(patchListener(before, patchesOf(merge), "GATEWAY", outcomes.report), before);
  assert.match(outcomes.heard.join(), /^0: .*Router.*TcpProxy/);
});

Deno.test("which listeners and chains a patch is for", () => {
  const chain = (name: string, filter_chain_match: object): FilterChain => ({ name, filter_chain_match, filters: [] });
  const chains = [
    chain("a", { destination_port: { value: 80 }, transport_protocol: "tls", application_protocols: ["h2", "x"] }),
    chain("b", { destination_port: { value: 90 }, server_names: ["*.a.com", "b.com"] }),
    chain("c", {}),
  ];
  const touched = (name: string, match: object) => {
    const before: Listener = { ...listener(15006, ...chains), name };
    const after = patched(before, {
      applyTo: "FILTER_CHAIN",
      match: { listener: match },
      patch: { operation: "MERGE", value: { transport_socket_connect_timeout: "1s" } },
    });
    const changed = (after?.filter_chains ?? []).filter((one) => one.transport_socket_connect_timeout !== undefined);
    return changed.map((one) => one.name).join("");
  };
  const cases: readonly (readonly [string, object, string])[] = [
    ["virtualInbound", {}, "abc"],
    ["virtualInbound", { portNumber: 80 }, "a"],
    ["virtualInbound", { portNumber: 15006 }, ""],
    ["virtualInbound", { name: "virtualOutbound" }, ""],
    ["virtualInbound", { name: "virtualInbound", portNumber: 90 }, "b"],
    ["l", { portNumber: 80 }, ""],
    ["l", { portNumber: 15006 }, "abc"],
    ["l", { filterChain: { name: "c" } }, "c"],
    ["l", { filterChain: { sni: "b.com" } }, "b"],
    ["l", { filterChain: { sni: "x.a.com" } }, ""],
    ["l", { filterChain: { transportProtocol: "tls" } }, "a"],
    ["l", { filterChain: { applicationProtocols: "h2,x" } }, "a"],
    ["l", { filterChain: { applicationProtocols: "h2,y" } }, ""],
    ["l", { filterChain: { destinationPort: 90 } }, "b"],
  ];
  for (const [name, match, expected] of cases) {
    assert.equal(touched(name, match), expected, JSON.stringify([name, match]));
  }
});

Deno.test("a port in a patch of the listener itself is the listener's port, also for virtual listeners", () => {
  const before: Listener = { ...listener(15006, { filters: [] }), name: "virtualInbound" };
  const remove = (portNumber: number) =>
    patched(before, { applyTo: "LISTENER", match: { listener: { portNumber } }, patch: { operation: "REMOVE" } });
  assert.equal(remove(80), before);
  assert.equal(remove(15006), undefined);
});

Deno.test("from the outside in: the listener, its filters, each chain; chains that are added are not patched further", () => {
  const add = {
    applyTo: "FILTER_CHAIN",
    patch: { operation: "ADD", value: { name: "added", filters: [{ name: HCM }] } },
  };
  const rename = { applyTo: "FILTER_CHAIN", patch: { operation: "MERGE", value: { name: "patched" } } };
  const inspect = { applyTo: "LISTENER_FILTER", patch: { operation: "INSERT_FIRST", value: { name: "inspector" } } };
  const after = patched(listener(80, requests("a")), add, rename, inspect, http("ADD"));
  assert.deepEqual(after?.filter_chains?.map(({ name }) => name), ["patched", "added"]);
  assert.deepEqual(after?.filter_chains?.[1]?.filters, [{ name: HCM }]);
  assert.deepEqual(after?.listener_filters?.map(({ name }) => name), ["inspector"]);
});

Deno.test("the default chain is patched like the others; without any chain a listener is useless", () => {
  const before: Listener = { ...listener(80, requests("a")), default_filter_chain: requests("b") };
  const remove: WrittenPatch = { applyTo: "FILTER_CHAIN", patch: { operation: "REMOVE" } };
  const after = patched(before, remove)!;
  assert.deepEqual([after.filter_chains, "default_filter_chain" in after, hasChains(after)], [[], false, false]);
  assert.ok(hasChains(patched(before, http("ADD"))!));
});

Deno.test("objects without a matching patch stay the same, down to the listener", () => {
  const before = listener(80, requests("a"), { name: "no filters" });
  const elsewhere = { portNumber: 81 };
  const others: WrittenPatch[] = [
    http("INSERT_BEFORE", "z"),
    { applyTo: "LISTENER", match: { listener: elsewhere }, patch: { operation: "REMOVE" } },
    { applyTo: "LISTENER_FILTER", match: { listener: { listenerFilter: "z" } }, patch: { operation: "REMOVE" } },
    { applyTo: "NETWORK_FILTER", match: { listener: elsewhere }, patch: { operation: "ADD", value: { name: "x" } } },
    { applyTo: "CLUSTER", patch: { operation: "REMOVE" } },
  ];
  for (const other of others) assert.equal(patched(before, other), before, JSON.stringify(other));
  assert.equal(patched(before, ...others), before);
});
