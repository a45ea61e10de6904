import assert from "node:assert/strict";
import { serverHosts } from "../../../lib/config/kinds/gateway/hosts.ts";
import { HostIndex } from "../../../lib/translate/gateway/server.ts";

/** Hosts of a server in namespace `own`, a virtual service's host and namespace, and the common hosts. */
const cases: readonly [readonly string[], string, string, readonly string[]][] = [
  [["a.com"], "a.com", "any", ["a.com"]],
  [["A.com"], "a.com", "any", ["a.com"]],
  [["a.com"], "b.com", "any", []],
  [["*"], "a.com", "any", ["a.com"]],
  [["*"], "*", "any", ["*"]],
  [["*.com"], "a.b.com", "any", ["a.b.com"]],
  [["*.b.com"], "b.com", "any", []],
  [["a.com", "b.com", "c.org"], "*.com", "any", ["a.com", "b.com"]],
  [["a.com", "*.x.com"], "*", "any", ["a.com", "*.x.com"]],
  [["*.com"], "*.a.com", "any", ["*.a.com"]],
  [["*.a.com", "*.com"], "*.com", "any", ["*.com", "*.a.com"]],
  [["./a.com"], "a.com", "own", ["a.com"]],
  [["./a.com"], "a.com", "other", []],
  [["*/a.com"], "a.com", "other", ["a.com"]],
  [["ns/a.com"], "a.com", "ns", ["a.com"]],
  [["ns/a.com"], "a.com", "own", []],
  [["ns/*", "other/*.com"], "a.com", "other", ["a.com"]],
  [["ns/*", "other/*.com"], "a.org", "other", []],
  [["ns/a.com", "other/a.com"], "*", "other", ["a.com"]],
];

for (const [hosts, host, namespace, common] of cases) {
  Deno.test({
    name: `a server of [${hosts}] and ${namespace}'s virtual service of ${host} share [${common}]`,
    permissions: "none",
    fn() {
      const server = { hosts, port: { number: 80, name: "http", protocol: "HTTP" } };
      assert.deepEqual(new HostIndex(serverHosts(server, "own")).common(host, namespace), common);
    },
  });
}
