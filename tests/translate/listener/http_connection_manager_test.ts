/** HTTP connection managers: filters, and the effects of settings. Complete messages are in the goldens. */
import assert from "node:assert/strict";
import { decode } from "../../../lib/pb/reflect.ts";
import type { HttpFilterSlots } from "../../../lib/translate/filters/http/order.ts";
import { httpConnectionManager } from "../../../lib/translate/listener/http_connection_manager.ts";
import type { envoy } from "../../../proto/gen/types.ts";
import { meshReader, type ReaderWorld } from "../mesh_reader.ts";

type Hcm = envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager;

function build(world: ReaderWorld = {}, options: { grpcWeb?: boolean; slots?: HttpFilterSlots } = {}): Hcm {
  const filter = httpConnectionManager(meshReader(world), {
    port: 80,
    direction: "outbound",
    statPrefix: "outbound_0.0.0.0_80",
    routes: "80",
    ...options,
  });
  const name = "envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager";
  return decode<Hcm>(name, filter.typed_config?.value as Uint8Array);
}

function filters(hcm: Hcm): (string | undefined)[] {
  return hcm.http_filters?.map((f) => f.name?.replace("envoy.filters.http.", "")) ?? [];
}

/** A WasmPlugin of each phase. */
const plugins = ["UNSPECIFIED_PHASE", "STATS", "AUTHZ", "AUTHN"].map((phase) => ({
  apiVersion: "extensions.istio.io/v1alpha1",
  kind: "WasmPlugin",
  metadata: { name: pluginName(phase), namespace: "default" },
  spec: { url: "a", phase },
}));

function pluginName(phase: string): string {
  return phase.toLowerCase().replace("_", "-");
}

Deno.test("filters run in one order, with the filters of other packages at their places", () => {
  const named = (name: string) => ({ name });
  const slots: HttpFilterSlots = {
    authorization: [named("authz")],
    authentication: [named("authn")],
    externalAuthorization: [named("external")],
  };
  const settings = { enablePersistentSessionFilter: true };
  const world = { written: plugins, settings };
  const plugin = (phase: string) => `extensions.istio.io/wasmplugin/default.${pluginName(phase)}`;
  assert.deepEqual(filters(build(world, { grpcWeb: true, slots })), [
    ...["external", plugin("AUTHN"), "authn", plugin("AUTHZ"), "authz", plugin("STATS"), plugin("UNSPECIFIED_PHASE")],
    ...["grpc_web", "grpc_stats", "fault", "cors", "stateful_session", "router"],
  ]);
});

Deno.test("a filter that the proxy's build lacks is not sent; the router always is", () => {
  const extensions = new Set(["envoy.filters.http.cors", "envoy.filters.http.grpc_stats"]);
  assert.deepEqual(filters(build({ properties: { extensions } })), ["grpc_stats", "cors", "router"]);
});

Deno.test("a listener waits for its routes without a limit", () => {
  assert.deepEqual(build().rds?.config_source?.initial_fetch_timeout, {});
});

Deno.test("internal addresses are set only where clients' addresses are believed, and only if there are any", () => {
  const networks = { networks: { one: { endpoints: [{ fromCidr: "10.0.0.9/8" }], gateways: [] } } };
  const settings = { sidecarUseRemoteAddress: true };
  assert.equal(build({ networks }).internal_address_config, undefined);
  assert.equal(build({ settings }).internal_address_config, undefined);
  const [range] = build({ networks, settings }).internal_address_config?.cidr_ranges ?? [];
  assert.equal(range?.address_prefix, "10.0.0.0");
});

for (
  const [normalization, expected] of [
    ["NONE", [false, false, 1]],
    ["DEFAULT", [true, false, 1]],
    ["BASE", [true, false, 1]],
    ["MERGE_SLASHES", [true, true, 1]],
    ["DECODE_AND_MERGE_SLASHES", [true, true, 4]],
  ] as const
) {
  Deno.test(`path normalisation ${normalization}`, () => {
    const hcm = build({ mesh: { pathNormalization: { normalization } } });
    const actual = [
      hcm.normalize_path?.value ?? false,
      hcm.merge_slashes ?? false,
      hcm.path_with_escaped_slashes_action,
    ];
    assert.deepEqual(actual, expected);
  });
}
