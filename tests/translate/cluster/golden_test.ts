/**
 * Goldens: what each world in `tests/testdata/translate/cluster/in` becomes. `deno task goldens` accepts a change.
 */
import assert from "node:assert/strict";
import type { Built } from "../../../lib/translate/message/built.ts";
import { connectOriginateClusters } from "../../../lib/translate/cluster/hbone.ts";
import { outboundClusters } from "../../../lib/translate/cluster/outbound.ts";
import { passedClusters } from "../../../lib/translate/cluster/passed.ts";
import { staticClusters } from "../../../lib/translate/cluster/static.ts";
import { loadAssignments } from "../../../lib/translate/endpoint/assignment.ts";
import { passedAssignments } from "../../../lib/translate/endpoint/passed.ts";
import { encode } from "../../../lib/pb/codec.ts";
import { readable } from "../../../lib/pb/reflect.ts";
import type { envoy } from "../../../proto/gen/types.ts";
import { inputNames, testGoldens } from "../../golden.ts";
import { acceptClusters, envoyPath } from "../envoy.ts";
import { fakeReader } from "../fake_reader.ts";
import { worldFromYaml } from "../world_from_yaml.ts";

type Cluster = envoy.config.cluster.v3.Cluster;
type ClusterLoadAssignment = envoy.config.endpoint.v3.ClusterLoadAssignment;

const folder = new URL("../../testdata/translate/cluster/", import.meta.url);
const names = inputNames(new URL("in/", folder));

function build(name: string, edit: (yaml: string) => string = (yaml) => yaml) {
  const world = worldFromYaml(edit(Deno.readTextFileSync(new URL(`in/${name}.yaml`, folder))));
  const read = fakeReader(world);
  const hosts = (world.services ?? []).map((s) => s.hostname);
  return {
    clusters: [
      ...hosts.flatMap((h) => [...outboundClusters(read, h), ...passedClusters(read, h)]),
      ...staticClusters(read),
      ...connectOriginateClusters(read),
    ],
    assignments: hosts.flatMap((h) => [...loadAssignments(read, h), ...passedAssignments(read, h)]),
  };
}

function shown<T extends object>(type: string, built: readonly Built<T>[]) {
  return built.map(({ message, ...rest }) => ({ ...rest, message: readable(type, encode(type, message)) }));
}

function text(name: string): string {
  const { clusters, assignments } = build(name);
  return JSON.stringify(
    {
      clusters: shown("envoy.config.cluster.v3.Cluster", clusters),
      assignments: shown("envoy.config.endpoint.v3.ClusterLoadAssignment", assignments),
    },
    null,
    1,
  ) + "\n";
}

testGoldens({
  folder: new URL("out/", folder),
  suffix: ".json",
  cases: new Map(names.map((name) => [name, () => text(name)])),
});

const envoyBinary = envoyPath();

Deno.test({
  name: "Envoy accepts every golden cluster and load assignment, and calls no field deprecated",
  ignore: envoyBinary === undefined,
  async fn() {
    const pem = new URL("pem/", folder).pathname;
    const all = names.map((name) => build(name, (yaml) => yaml.replaceAll("/etc/certs/", pem)));
    const clusters = all.flatMap((built, i) => [
      ...built.clusters.map(({ message }) => renamed(message, i)),
      ...built.assignments.map(({ message }) => carrier(message, i)),
    ]);
    const verdict = await acceptClusters(envoyBinary!, clusters);
    assert.ok(verdict.accepted, verdict.output);
    assert.deepEqual(verdict.deprecated, []);
  },
});

/** Worlds share names of clusters; one Envoy wants each once. */
function renamed(message: Cluster, world: number): Cluster {
  return { ...message, name: `${world}/${message.name}` };
}

/** A cluster that holds a load assignment of EDS, so that Envoy checks it. */
function carrier(message: ClusterLoadAssignment, world: number): Cluster {
  return {
    name: `${world}/eds/${message.cluster_name}`,
    type: 0,
    connect_timeout: { seconds: 1 },
    common_lb_config: { locality_weighted_lb_config: {} },
    load_assignment: message,
  };
}
