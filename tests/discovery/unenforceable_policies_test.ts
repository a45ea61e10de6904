/** A policy beyond a proxy's abilities refuses more than its text, never less. */
import assert from "node:assert/strict";
import { Fixture, service, texts } from "./fixture.ts";

const policy = (action: string, rules: object[]) => ({
  apiVersion: "security.mesh.io/v1",
  kind: "AuthorizationPolicy",
  metadata: { name: "guard", namespace: "x" },
  spec: { action, rules },
});

/** Inbound listeners of a proxy whose build has the given extensions; absent: all. */
function inbound(guard: object, extensions?: readonly string[]): { readonly text: string; readonly said: string } {
  const fixture = new Fixture();
  fixture.put(service(1), guard);
  fixture.pipeline.flush();
  const { nodes, pipeline } = fixture;
  const id = "sidecar~10.0.0.1~app.x~x.svc.cluster.local";
  const listed = extensions === undefined ? {} : { extensions: extensions.map((name) => ({ name })) };
  const state = pipeline.translator.join(nodes.read({ id, metadata: { fields: {} }, ...listed }, true, pipeline.mesh));
  const said = [...pipeline.translator.warnings()].filter(({ name }) => name === "not-as-written");
  return { text: texts(state)["listener/virtualInbound"] ?? "", said: said.map(({ message }) => message).join() };
}

Deno.test("a proxy whose build has no authorization filter refuses everything where a policy holds", () => {
  const guard = policy("ALLOW", [{ to: [{ operation: { paths: ["/public"] } }] }]);
  const filters = ["envoy.filters.network.http_connection_manager", "envoy.filters.http.router"];
  const { text, said } = inbound(guard, [...filters, "envoy.filters.network.tcp_proxy"]);
  assert.doesNotMatch(text, /filters\.rbac|http\.rbac/);
  assert.match(said, /ports are closed: the proxy's build lacks envoy\.filters\.(http|network)\.rbac/);
  assert.match(inbound(guard).text, /rbac/);
});

Deno.test("of a condition that a proxy cannot compare ALLOW admits nothing, and DENY refuses whatever it is", () => {
  const rules = [{ to: [{ operation: { paths: ["/\ud800"] } }] }];
  const deny = inbound(policy("DENY", rules));
  assert.match(deny.said, /rules\[0\] matches without this condition: the proxy cannot compare/);
  assert.match(deny.text, /"action":"?(?:DENY|1)/);
  const allow = inbound(policy("ALLOW", rules));
  assert.match(allow.said, /rules\[0\] never matches: the proxy cannot compare/);
  assert.match(allow.text, /filters\.http\.rbac/);
});
