/**
 * Goldens: what each world in `tests/testdata/translate/route/in` becomes. `deno task goldens` accepts a change.
 */
import assert from "node:assert/strict";
import { inFile } from "../../config/origins.ts";
import { parseAllDocuments } from "yaml";
import { parseObject } from "../../../lib/config/object.ts";
import { encode } from "../../../lib/pb/codec.ts";
import { readable } from "../../../lib/pb/reflect.ts";
import { sidecarRouteConfiguration } from "../../../lib/translate/route/configuration.ts";
import { DomainOwners } from "../../../lib/translate/route/domain_owners.ts";
import { outboundVirtualHosts } from "../../../lib/translate/route/sidecar.ts";
import type { envoy } from "../../../proto/gen/types.ts";
import { inputNames, testGoldens } from "../../golden.ts";
import { envoyPath, validate } from "../envoy.ts";
import { fakeReader, type FakeWorld } from "../fake_reader.ts";
import { worldFromYaml } from "../world_from_yaml.ts";
import { routeListener } from "./route_listener.ts";

type RouteConfiguration = envoy.config.route.v3.RouteConfiguration;

const folder = new URL("../../testdata/translate/route/", import.meta.url);
const names = inputNames(new URL("in/", folder));

function load(name: string): FakeWorld {
  return worldFromYaml(Deno.readTextFileSync(new URL(`in/${name}.yaml`, folder)));
}

function hostsOf(world: FakeWorld): string[] {
  const named = Object.values(world.virtualServices ?? {}).flatMap((vs) => vs.hosts);
  return [...new Set([...(world.services ?? []).map((s) => s.hostname), ...named])];
}

function build(name: string) {
  const world = load(name);
  const read = fakeReader({
    ...world,
    properties: { labels: { app: "mine" }, ...world.properties },
    mesh: { defaultHttpRetryPolicy: { attempts: 2 }, ...world.mesh },
  });
  return { read, virtualHosts: hostsOf(world).flatMap((host) => outboundVirtualHosts(read, host)) };
}

function text(name: string): string {
  const shown = build(name).virtualHosts.map(({ virtualHost, parts: _, ...rest }) => {
    const type = "envoy.config.route.v3.VirtualHost";
    return { ...rest, virtualHost: readable(type, encode(type, virtualHost)) };
  });
  return JSON.stringify(shown, null, 1) + "\n";
}

testGoldens({
  folder: new URL("out/", folder),
  suffix: ".json",
  cases: new Map(names.map((name) => [name, () => text(name)])),
});

Deno.test("every golden world is one that users may write", () => {
  for (const name of names) {
    for (const document of parseAllDocuments(Deno.readTextFileSync(new URL(`in/${name}.yaml`, folder)))) {
      const tree = document.toJS();
      if (tree === null || tree.kind === "World") continue;
      const { findings } = parseObject(tree, inFile(name), { defaultNamespace: "default" });
      assert.deepEqual(findings.filter((one) => one.severity === "error"), [], name);
    }
  }
});

/** The route configurations of a world, whole. */
function configurations(name: string): RouteConfiguration[] {
  const { read, virtualHosts } = build(name);
  const groups = Map.groupBy(virtualHosts, (one) => one.routeConfiguration);
  return [...groups].map(([configuration, members]) => {
    const owners = new DomainOwners();
    for (const { virtualHost } of members) owners.update(virtualHost.name!, virtualHost.domains!);
    const owned = members.map(({ virtualHost }) => ({ ...virtualHost, domains: [...owners.owned(virtualHost.name!)] }));
    const some = owned.filter(({ domains }) => domains.length > 0);
    return sidecarRouteConfiguration(read, configuration, some).message;
  });
}

const envoyBinary = envoyPath();

Deno.test({
  name: "Envoy accepts every golden route configuration, and calls no field deprecated",
  ignore: envoyBinary === undefined,
  async fn() {
    const listeners = names.flatMap(configurations).map((routes, index) => routeListener(routes, index));
    const verdict = await validate(envoyBinary!, { listeners });
    assert.ok(verdict.accepted, verdict.output);
    assert.deepEqual(verdict.deprecated, []);
  },
});
