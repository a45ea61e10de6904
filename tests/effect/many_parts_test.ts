/** Virtual hosts with rules of many routes. */
import assert from "node:assert/strict";
import { type EffectiveProxy, InForce } from "../../lib/effect/in_force.ts";
import type { EffectWorld } from "../../lib/effect/judge.ts";
import { judgeVirtualService } from "../../lib/effect/virtual_service.ts";
import type { ConfigObject } from "../../lib/config/types.ts";
import { encodeResource } from "../../lib/resource/encoded.ts";
import { ResourceTable } from "../../lib/resource/set.ts";
import { TYPE } from "../../lib/translate/encode/encode.ts";

Deno.test("of a resource made of many routes each route is in force with its own parts", () => {
  const keys = Array.from({ length: 200 }, (_, at) => `HTTPRoute/shop/r${at}`);
  const parts = keys.map((key, at) => `${key} rules ${at}.0`);
  const resource = encodeResource(TYPE.listener, "l", new Uint8Array(), { causes: [...keys, "Gateway/a/b"], parts });
  const set = new ResourceTable().from([resource]);
  const proxy: EffectiveProxy = {
    resourceSets: (type) => type === TYPE.listener ? [set] : [],
    virtualHosts: () => [],
  };
  const inForce = new InForce();
  for (const _ of inForce.look([proxy]));
  assert.ok(keys.every((key, at) => inForce.hasPart(key, `rules ${at}.0`)));
  assert.equal(inForce.hasPart("HTTPRoute/shop/r1", "rules 2.0"), false);
  assert.ok(inForce.hasPart("Gateway/a/b", "servers 0"), "an object without parts counts as a whole");
  for (const _ of inForce.look([]));
  assert.ok(keys.every((key) => !inForce.has(key)));
});

Deno.test("a VirtualService made of routes is not judged: its rules are nothing that users could change there", () => {
  const source = { kind: "HTTPRoute", namespace: "shop", name: "web", rule: 0 } as const;
  const http = [{ directResponse: { status: 500 }, internal: { source } }];
  const effective = { causes: ["VirtualService/edge/d"], spec: { http } };
  const world = { mesh: { resolver: { effective: () => effective } } } as unknown as EffectWorld;
  const object = { key: "VirtualService/edge/d", spec: { http } } as unknown as ConfigObject<"VirtualService">;
  assert.deepEqual(judgeVirtualService(object, world), []);
});
