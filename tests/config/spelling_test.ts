import assert from "node:assert/strict";
import { GATEWAY_API_KINDS, MESH_KINDS } from "../../lib/config/kinds/kinds.ts";
import {
  apiGroupOfKind,
  groupOfKind,
  lookupKind,
  ownKey,
  ownLabelExpression,
  ownMetadataKey,
  spellingsOfKind,
  versionsOfKind,
} from "../../lib/config/spelling/spelling.ts";

const KEYS: readonly (readonly [string, string])[] = [
  ["istio.io/rev", "mesh.io/rev"],
  ["sidecar.istio.io/inject", "sidecar.mesh.io/inject"],
  ["readiness.status.sidecar.istio.io/periodSeconds", "readiness.status.sidecar.mesh.io/periodSeconds"],
  ["istio-locality", "mesh-locality"],
  ["istio", "istio"],
  ["notistio.io/x", "notistio.io/x"],
  ["istio.io.example.com/x", "istio.io.example.com/x"],
  ["example.com/istio.io/x", "example.com/istio.io/x"],
  ["mesh.io/rev", "mesh.io/rev"],
  ["constructor", "constructor"],
];

for (const [written, own] of KEYS) {
  Deno.test({
    name: `label ${written} is ${own} to us`,
    permissions: "none",
    fn: () => assert.equal(ownKey(written), own),
  });
}

Deno.test({
  name: "every kind is found in both groups and all versions",
  permissions: "none",
  fn() {
    for (const kind of MESH_KINDS) {
      for (const domain of ["mesh.io", "istio.io"]) {
        for (const version of ["v1", "v1beta1", "v1alpha3"]) {
          const found = lookupKind(`${groupOfKind(kind)}.${domain}/${version}`, kind);
          assert.deepEqual(found, { known: true, kind });
        }
      }
    }
    assert.deepEqual(lookupKind("networking.istio.io/v1alpha3", "EnvoyFilter"), { known: true, kind: "ProxyFilter" });
  },
});

Deno.test({
  name: "kinds of the Gateway API are found in all versions, and its Gateway is not the mesh's",
  permissions: "none",
  fn() {
    for (const kind of GATEWAY_API_KINDS) {
      for (const version of versionsOfKind(kind)) {
        const found = lookupKind(`${apiGroupOfKind(kind)}/${version}`, spellingsOfKind(kind)[0]!);
        assert.deepEqual(found, { known: true, kind });
      }
    }
    assert.deepEqual(lookupKind("gateway.networking.k8s.io/v1", "Gateway"), { known: true, kind: "ApiGateway" });
    // The group may get further kinds; our own name of a kind is not the group's.
    for (const kind of ["XMesh", "ApiGateway", "constructor"]) {
      assert.deepEqual(lookupKind("gateway.networking.k8s.io/v1", kind), { known: false, foreign: true });
    }
    for (const kind of ["HTTPRoute", "XOther"]) {
      assert.deepEqual(lookupKind("gateway.networking.x-k8s.io/v1alpha1", kind), { known: false, foreign: true });
    }
    const experimental = lookupKind("gateway.networking.x-k8s.io/v1", "XMesh");
    assert.ok(!experimental.known && !experimental.foreign && experimental.expected.includes("v1alpha1"));
    const version = lookupKind("gateway.networking.k8s.io/v2", "HTTPRoute");
    assert.ok(!version.known && !version.foreign && version.field === "apiVersion");
  },
});

Deno.test({
  name: "other groups are not ours, and mistakes in ours are reported",
  permissions: "none",
  fn() {
    assert.deepEqual(lookupKind("v1", "Service"), { known: false, foreign: true });
    assert.deepEqual(lookupKind("gateway.networking.x-k8s.io/v1alpha1", "XListenerSet"), {
      known: false,
      foreign: true,
    });
    const version = lookupKind("networking.istio.io/v2", "Gateway");
    assert.ok(!version.known && !version.foreign && version.field === "apiVersion");
    const kind = lookupKind("security.istio.io/v1", "constructor");
    assert.ok(!kind.known && !kind.foreign && kind.field === "kind");
  },
});

Deno.test({
  name: "labels inside expressions and metadata variables change too",
  permissions: "none",
  fn() {
    assert.equal(ownLabelExpression("topology.istio.io/network"), "topology.mesh.io/network");
    assert.equal(ownLabelExpression("security.istio.io/tlsMode=istio"), "security.mesh.io/tlsMode=mesh");
    assert.equal(ownMetadataKey("ISTIO_META_DNS_CAPTURE"), "MESH_META_DNS_CAPTURE");
    assert.equal(ownMetadataKey("OTHER"), "OTHER");
  },
});
