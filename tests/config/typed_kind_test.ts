import assert from "node:assert/strict";
import { FACT_KINDS } from "../../lib/config/facts/types.ts";
import { KINDS, MESH_KINDS } from "../../lib/config/kinds/kinds.ts";
import { apiGroupOfKind, spellingsOfKind } from "../../lib/config/spelling/spelling.ts";
import {
  otherTypedKind,
  typedFactKind,
  typedKey,
  typedKind,
  unambiguousWord,
} from "../../lib/config/typed/typed_kind.ts";

const SHORT: Readonly<Record<string, string>> = {
  ...{ vs: "VirtualService", dr: "DestinationRule", gw: "Gateway", se: "ServiceEntry", we: "WorkloadEntry" },
  ...{ wg: "WorkloadGroup", ap: "AuthorizationPolicy", pa: "PeerAuthentication", ra: "RequestAuthentication" },
  ...{ ef: "ProxyFilter", pf: "ProxyFilter", pc: "ProxyConfig", sc: "Sidecar", tm: "Telemetry", wp: "WasmPlugin" },
};

Deno.test({
  name: "a kind is known by each spelling, its plural and its short name, in any case",
  permissions: "none",
  fn: () => {
    for (const kind of KINDS) {
      for (const written of spellingsOfKind(kind)) {
        const plural = `${written.toLowerCase()}s`.replace(/([^aeiou])ys$/, "$1ies").replace(/(s[sh])s$/, "$1es");
        for (const word of [written, written.toLowerCase(), written.toUpperCase(), plural]) {
          // The mesh's Gateway has precedence over the Gateway API's.
          if (kind !== "ApiGateway") assert.equal(typedKind(word), kind, word);
          assert.equal(typedKind(`${word}.${apiGroupOfKind(kind, "istio.io")}`), kind, word);
        }
      }
      assert.equal(typedKind(kind.toLowerCase()), kind);
      assert.equal(typedKind(unambiguousWord(kind)), kind);
    }
    for (const kind of MESH_KINDS) assert.ok(Object.values(SHORT).includes(kind), `${kind} has a short name`);
    assert.equal(typedKind("gateway"), "Gateway");
    assert.equal(unambiguousWord("ApiGateway"), "gateway.gateway.networking.k8s.io");
    assert.deepEqual(["gateway", "gw", "httproute", "ApiGateway"].map(otherTypedKind), [
      "ApiGateway",
      undefined,
      undefined,
      undefined,
    ]);
    for (const [word, kind] of Object.entries(SHORT)) {
      for (const typed of [word, word.toUpperCase()]) assert.equal(typedKind(typed), kind, typed);
    }
    for (const word of ["", "v", "constructor", "VirtualServicess"]) assert.equal(typedKind(word), undefined, word);
  },
});

Deno.test({
  name: "a kind of an orchestrator is known in any case, as plural and by its short name",
  permissions: "none",
  fn: () => {
    for (const kind of FACT_KINDS) assert.equal(typedFactKind(kind.toLowerCase()), kind);
    const words = {
      svc: "Service",
      Pods: "Pod",
      DEPLOY: "Deployment",
      ingresses: "Ingress",
      cm: "ConfigMap",
      ns: "Namespace",
    };
    for (const [word, kind] of Object.entries(words)) assert.equal(typedFactKind(word), kind, word);
  },
});

Deno.test({
  name: "a key that begins with any word of a kind begins with the kind's name, and other text stays",
  permissions: "none",
  fn: () => {
    assert.equal(typedKey("vs/shop/*"), "VirtualService/shop/*");
    assert.equal(typedKey("EnvoyFilter/shop/limit"), "ProxyFilter/shop/limit");
    assert.equal(typedKey("SVC/shop/cart"), "Service/shop/cart");
    for (const text of ["vs", "shop/cart", "*/shop/cart", "/vs/x"]) assert.equal(typedKey(text), text);
  },
});
