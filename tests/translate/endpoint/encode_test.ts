import assert from "node:assert/strict";
import fc from "fast-check";
import { encode } from "../../../lib/pb/codec.ts";
import type { LocalityParts } from "../../../lib/translate/endpoint/locality.ts";
import type {
  LeanAddress,
  LeanAssignment,
  LeanEndpoint,
  LeanLocality,
  LeanMetadata,
} from "../../../lib/translate/endpoint/encode.ts";
import { LoadAssignmentEncoder } from "../../../lib/translate/endpoint/encode.ts";
import { runs } from "../../properties.ts";

const TYPE = "envoy.config.endpoint.v3.ClusterLoadAssignment";

const text = fc.oneof(fc.string(), fc.string({ unit: "grapheme" }), fc.string({ minLength: 100, maxLength: 300 }));
const uint32 = fc.oneof(
  fc.nat(300),
  fc.nat({ max: 0xffff_ffff }),
  fc.constantFrom(127, 128, 16383, 16384, 0xffff_ffff),
);
const wrapped = fc.record({ value: uint32 });
const address: fc.Arbitrary<LeanAddress> = fc.oneof(
  fc.record({ socket_address: fc.record({ address: text, port_value: fc.nat(65535) }) }),
  fc.record({ pipe: fc.record({ path: text }) }),
  fc.record({ envoy_internal_address: fc.record({ server_listener_name: text, endpoint_id: text }) }),
);
const metadata: fc.Arbitrary<LeanMetadata> = fc.record({
  filter_metadata: fc.record({
    istio: text.map((stringValue) => ({ fields: { workload: { stringValue } } })),
    "envoy.transport_socket_match": fc.oneof(
      text.map((stringValue) => ({ fields: { tlsMode: { stringValue } } })),
      text.map((stringValue) => ({ fields: { tunnel: { stringValue } } })),
    ),
    "envoy.filters.listener.original_dst": fc.oneof(
      text.map((stringValue) => ({ fields: { local: { stringValue } } })),
      text.map((stringValue) => ({
        fields: { local: { stringValue }, waypoint: { stringValue: `${stringValue}:1` } },
      })),
      text.map((stringValue) => ({
        fields: { gateway: { stringValue }, service: { stringValue: `${stringValue}:1` } },
      })),
    ),
  }, { requiredKeys: [] }),
});
const endpoint: fc.Arbitrary<LeanEndpoint> = fc.record({
  endpoint: fc.record({
    address,
    additional_addresses: fc.array(fc.record({ address }), { maxLength: 3 }),
  }, { requiredKeys: ["address"] }),
  health_status: fc.constantFrom(2 as const, 3 as const),
  metadata,
  load_balancing_weight: wrapped,
}, { requiredKeys: ["endpoint"] });
const locality: fc.Arbitrary<LocalityParts> = fc.record({ region: text, zone: text, sub_zone: text }, {
  requiredKeys: [],
});
const group: fc.Arbitrary<LeanLocality> = fc.record({
  locality,
  lb_endpoints: fc.array(endpoint, { maxLength: 40 }),
  load_balancing_weight: wrapped,
  priority: fc.integer({ min: 1, max: 300 }),
}, { requiredKeys: ["lb_endpoints", "load_balancing_weight"] });
const assignment: fc.Arbitrary<LeanAssignment> = fc.record({
  cluster_name: text,
  endpoints: fc.array(group, { maxLength: 5 }),
}, { requiredKeys: ["cluster_name"] });

Deno.test("load assignments have the same bytes as from the general encoder, after any earlier assignments", () => {
  const encoder = new LoadAssignmentEncoder();
  fc.assert(
    fc.property(assignment, (message) => {
      assert.deepEqual(encoder.encode(message), new Uint8Array(encode(TYPE, message)));
    }),
    { numRuns: runs(300) },
  );
});

Deno.test("returned bytes stay unchanged when the next message is encoded", () => {
  const encoder = new LoadAssignmentEncoder();
  const first = encoder.encode({ cluster_name: "a" });
  encoder.encode({ cluster_name: "b".repeat(10_000) });
  assert.deepEqual(first, new Uint8Array(encode(TYPE, { cluster_name: "a" })));
});
