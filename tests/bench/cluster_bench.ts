/** Cost of clusters: `deno bench tests/bench/cluster_bench.ts`. Each iteration is a host with a port. */
import { encode } from "../../lib/pb/codec.ts";
import { outboundClusters } from "../../lib/translate/cluster/outbound.ts";
import { meshReader, type ReaderWorld } from "../translate/mesh_reader.ts";
import { rule, service } from "../translate/make.ts";

const TYPE = "envoy.config.cluster.v3.Cluster";
const HOST = "reviews.default.svc.cluster.local";
const worlds: Record<string, ReaderWorld> = {
  "no rule": {},
  "rule with 2 subsets": {
    destinationRules: {
      [HOST]: rule(HOST, {
        trafficPolicy: { connectionPool: { tcp: { maxConnections: 100 } } },
        subsets: [{ name: "v1", labels: { version: "v1" } }, { name: "v2", labels: { version: "v2" } }],
      }),
    },
  },
};

for (const [name, world] of Object.entries(worlds)) {
  const read = meshReader({ ...world, services: [service(HOST)] });
  Deno.bench(`${name}: build`, () => {
    outboundClusters(read, HOST);
  });
  Deno.bench(`${name}: build and encode`, () => {
    for (const { message } of outboundClusters(read, HOST)) encode(TYPE, message);
  });
}
