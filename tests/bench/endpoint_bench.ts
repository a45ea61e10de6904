/**
 * Cost of load assignments, the hottest path of translation: `deno bench tests/bench/endpoint_bench.ts`. Each iteration
 * is a host with a port: plan, selection, grouping, message and encoding.
 */
import { encode } from "../../lib/pb/codec.ts";
import { LoadAssignmentEncoder } from "../../lib/translate/endpoint/encode.ts";
import { loadAssignments } from "../../lib/translate/endpoint/assignment.ts";
import { plainService } from "../../lib/registry/mock.ts";
import type { Endpoint } from "../../lib/registry/types.ts";
import { meshReader, type ReaderWorld } from "../translate/mesh_reader.ts";
import type { Reader } from "../../lib/translate/reader/reader.ts";

const TYPE = "envoy.config.endpoint.v3.ClusterLoadAssignment";
const HOST = "reviews.default.svc.cluster.local";

const service = plainService({
  hostname: HOST,
  provider: "Orch",
  ports: [{ name: "http", port: 80, protocol: "HTTP" }],
  addresses: ["10.1.2.3"],
});

function endpoints(localities: readonly string[]): Endpoint[] {
  return Array.from({ length: 10 }, (_, i) => ({
    address: `10.0.${i}.17`,
    port: 8080,
    portName: "http",
    labels: { app: "reviews", version: i % 2 === 0 ? "v1" : "v2" },
    locality: localities[i % localities.length]!,
    network: "",
    clusterId: "Orch",
    weight: 1,
    health: "healthy",
    serviceAccount: "reviews",
    namespace: "default",
    workloadName: "reviews-v1",
    tlsMode: "mesh",
  }));
}

/** A reader with minimal cost, so the builder is measured. */
function reader(world: ReaderWorld, eps: readonly Endpoint[]): Reader {
  const real = meshReader({ ...world, services: [service] });
  const rule = world.destinationRules?.[HOST];
  const answers: Partial<Reader> = {
    settings: real.settings,
    service: () => service,
    endpoints: () => eps,
    destinationRule: () => rule,
    derived: (_key, compute) => compute({ locality: "eu/eu-1/a" } as never),
    property: (() => "eu/eu-1/a") as Reader["property"],
  };
  return Object.assign(Object.create(real), answers);
}

const lean = { settings: { endpointTelemetryLabel: false } };
const failover: ReaderWorld = {
  ...lean,
  destinationRules: {
    [HOST]: {
      name: "r",
      namespace: "default",
      causes: [],
      spec: { host: HOST, trafficPolicy: { outlierDetection: { consecutive5xxErrors: 5 } } },
    },
  },
};
const one = endpoints(["eu/eu-1/a"]);
const three = endpoints(["eu/eu-1/a", "eu/eu-2/b", "us/us-1/c"]);
const cases = {
  "10 endpoints": reader(lean, one),
  "10 endpoints, telemetry labels": reader({}, one),
  "10 endpoints, 3 localities, failover": reader(failover, three),
};

const encoder = new LoadAssignmentEncoder();

for (const [name, read] of Object.entries(cases)) {
  Deno.bench(`${name}: build`, () => {
    loadAssignments(read, HOST);
  });
  Deno.bench(`${name}: build and encode`, () => {
    for (const { message } of loadAssignments(read, HOST)) encoder.encode(message);
  });
  Deno.bench(`${name}: build and encode in the general way`, () => {
    for (const { message } of loadAssignments(read, HOST)) encode(TYPE, message);
  });
}
