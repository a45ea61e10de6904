/** Users' expressions for tags, in the form for proxies. */
import assert from "node:assert/strict";
import { expressionValue } from "../../../lib/translate/telemetry/metrics/stats_logger.ts";

const first = (text: string) => JSON.parse(text.slice("%COALESCE(".length, -2)).operators[0].param as string;

Deno.test("Istio's attributes become Envoy's, outside texts and where a name begins", () => {
  const peer = "metadata.filter_metadata['mesh.peer']['peer']";
  assert.equal(first(expressionValue("downstream_peer.labels['role']", "server")), `${peer}.labels['role']`);
  assert.equal(first(expressionValue("upstream_peer.app", "client")), `${peer}.app`);
  assert.equal(first(expressionValue("node.metadata['A']", "client")), "xds.node.metadata['A']");
  assert.equal(first(expressionValue("xds.node.id == 'node.id'", "client")), "xds.node.id == 'node.id'");
  assert.equal(first(expressionValue("string(destination.port)", "server")), "destination.port");
});

Deno.test("what the proxy cannot compile is unknown; a bracket before a percent sign does not end the command", () => {
  assert.equal(expressionValue("no such(", "server"), "unknown");
  assert.equal(expressionValue("f(request.path)", "server"), "unknown");
  assert.equal(first(expressionValue("size(request.path)%2", "server")), "size(request.path) %2");
});
