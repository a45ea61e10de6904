/**
 * Goldens: what each world in `tests/testdata/translate/route/in` becomes. To accept a change:
 * `deno test --allow-read --allow-write --allow-env --allow-run tests/translate/route/golden_test.ts -- --update-goldens`.
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
import { envoyPath, validate } from "../envoy.ts";
import { fakeReader, type FakeWorld } from "../fake_reader.ts";
import { worldFromYaml } from "../world_from_yaml.ts";
import { routeListener } from "./route_listener.ts";

type RouteConfiguration = envoy.config.route.v3.RouteConfiguration;

const folder = new URL("../../testdata/translate/route/", import.meta.url);
const names = [...Deno.readDirSync(new URL("in/", folder))].map((e) => e.name.replace(".yaml", "")).sort();

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

for (const name of names) {
  Deno.test(`golden ${name}`, () => {
    const shown = build(name).virtualHosts.map(({ virtualHost, ...rest }) => {
      const type = "envoy.config.route.v3.VirtualHost";
      return { ...rest, virtualHost: readable(type, encode(type, virtualHost)) };
    });
    const actual = JSON.stringify(shown, null, 1) + "\n";
    const file = new URL(`out/${name}.json`, folder);
    if (Deno.args.includes("--update-goldens")) Deno.writeTextFileSync(file, actual);
    assert.deepEqual(JSON.parse(actual), JSON.parse(Deno.readTextFileSync(file)));
  });
}

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
