/** The injection's view of a server is one value until a part changes, and includes the server's settings. */
import assert from "node:assert/strict";
import { parseObject } from "../../../lib/config/object.ts";
import { defaultMeshConfig } from "../../../lib/config/mesh/merge.ts";
import { ConfigStore } from "../../../lib/config/store.ts";
import { InjectionConfiguration } from "../../../lib/discovery/injector/configuration.ts";
import { currentInjectionSettings } from "../../../lib/discovery/injector/settings.ts";
import type { MeshState } from "../../../lib/discovery/sources/mesh_source.ts";
import { silentLog } from "../../../lib/kernel/log/log.ts";
import { defaultSettings } from "../../../lib/kernel/settings/read.ts";

function started(changes: Parameters<typeof defaultSettings<"pilot-discovery">>[1] = {}) {
  const configuration = new InjectionConfiguration(silentLog().scope("default"));
  const store = new ConfigStore();
  const source = store.addSource("folder", 0);
  let meshChanged = (_: MeshState) => {};
  let minor: number | undefined;
  const state: MeshState = { mesh: defaultMeshConfig({ systemNamespace: "mesh-system" }), networks: { networks: {} } };
  const current = currentInjectionSettings({
    ...{ configuration, store, clusterId: "c1", settings: defaultSettings("pilot-discovery", changes) },
    mesh: { state, onChange: (listener) => void (meshChanged = listener) },
    apiMinor: () => minor,
  });
  const settings = () => {
    const now = current();
    assert.ok(!("problems" in now));
    return now;
  };
  const apply = (kind: string, spec: object) => {
    const tree = { apiVersion: "networking.mesh.io/v1", kind, metadata: { name: "a", namespace: "shop" }, spec };
    const { object } = parseObject(tree, { from: "api", source: "", uid: "" }, { defaultNamespace: "shop" });
    source.apply({ upserted: [object!], removed: [] });
  };
  const upgrade = (to: number) => void (minor = to);
  return { configuration, current, settings, apply, upgrade, meshChanged: () => meshChanged(state) };
}

Deno.test("before there is a configuration there are the reasons why", () => {
  const { configuration, current } = started();
  configuration.take({ place: "files", config: "policy: 5", values: undefined });
  assert.deepEqual(current(), {
    problems: ["injection has no configuration yet", "config: policy: got 5, expected enabled or disabled"],
  });
});

Deno.test("the server's settings are in it: revision, native sidecars, PLATFORM, where roots are, whether sidecars ask", () => {
  const changes = { REVISION: "canary", ENABLE_NATIVE_SIDECARS: true, PLATFORM: "openshift" };
  const { configuration, settings } = started(changes);
  configuration.take(undefined);
  const asking = started({ PILOT_ENABLE_ON_DEMAND_SIDECARS: true });
  asking.configuration.take(undefined);
  const { revision, nativeSidecars, platform, clusterId, rootConfigMap, trustBundle } = settings();
  assert.deepEqual([revision, nativeSidecars, platform, clusterId], ["canary", true, "openshift", "c1"]);
  assert.deepEqual([rootConfigMap, trustBundle], ["mesh-ca-root-cert", ""]);
  assert.deepEqual([settings().onDemand, asking.settings().onDemand], [false, true]);
  const bundled = started({ ENABLE_CLUSTER_TRUST_BUNDLE_API: true });
  bundled.configuration.take(undefined);
  assert.equal(bundled.settings().trustBundle, "mesh.io:meshd-ca:root-cert");
});

Deno.test("it is the same value until the configuration, the mesh, a ProxyConfig or the API's version changes", () => {
  const { configuration, settings, apply, upgrade, meshChanged } = started();
  configuration.take(undefined);
  let last = settings();
  apply("Sidecar", { egress: [{ hosts: ["./*"] }] });
  assert.equal(settings(), last);
  const changes = [
    () => configuration.take({ place: "files", config: "policy: disabled", values: undefined }),
    () => meshChanged(),
    () => apply("ProxyConfig", { concurrency: 3 }),
    () => upgrade(33),
  ];
  for (const change of changes) {
    change();
    assert.notEqual(settings(), last, String(change));
    assert.equal(settings(), last = settings());
  }
  assert.deepEqual(last.proxyConfigs.map(({ namespace, name, spec }) => [namespace, name, spec.concurrency]), [
    ["shop", "a", 3],
  ]);
});
