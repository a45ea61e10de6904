/** Envoy accepts every listener with policies that validation admits, and with some that validation refuses. */
import assert from "node:assert/strict";
import { envoyPath } from "../../envoy/path.ts";
import { validate } from "../../envoy/verdict.ts";
import { inboundListeners } from "../../../lib/translate/listener/inbound/inbound.ts";
import { configObject, meshReader } from "../mesh_reader.ts";

const binary = envoyPath();

/** A policy after reading, even if validation would refuse the policy. */
function policy(operation: object, when: readonly object[] = []) {
  return configObject(
    "AuthorizationPolicy",
    "shop/a",
    { action: "DENY", rules: [{ to: [{ operation }], when: [...when] }] } as never,
  );
}

const TARGET = {
  port: 8080,
  servicePort: { name: "http", port: 80, protocol: "HTTP" },
  captureMode: "DEFAULT",
  fromSidecarIngress: false,
} as const;

/** Each path has a separate listener, so a refused listener hides no other. */
const PATHS: readonly string[] = [
  ...["/a/{*}/", "/{**}/x", "/{*}/{**}", "/{**}", "/{*}", "/a/{**}/", "/a$b/{*}", "/%2f/{*}", "/a;b@:/{*}"],
  ...[
    "a/{*}",
    "//{*}",
    "/a//{*}",
    "/{**}/{*}",
    "/*/{*}",
    "/**/{*}",
    "/é/{*}",
    "/a b/{*}",
    '/a"/{*}',
    "/a{*}b",
    "/{*}{*}",
  ],
  ...["/" + "{*}/".repeat(60) + "x", "", "/", "**", "\u0000", "*\u0000", "?", "\ud800", "/\ud800/{*}"],
];

const LONG = "a".repeat(80);

const WHEN: readonly object[] = [
  { key: "request.headers[a b]", values: ["x"] },
  { key: "request.headers[é]", values: ["x\n", "*\u0000", "\ud800"] },
  { key: "request.headers[\ud800]", values: ["*"] },
  { key: "request.headers[a\nb]", values: ["*"] },
  { key: "request.headers[]", values: ["*"] },
  { key: "request.auth.claims[a][b]", values: ["x"] },
  { key: "request.auth.claims[]", values: ["y"] },
  { key: "request.auth.claims[a][]", values: ["y"] },
  { key: "request.auth.claims[a[b]]", values: ["y"] },
  { key: "request.auth.principal", values: ["*", "/", "*/", "/*", "a*", "*a", "a/b/*"] },
  { key: "experimental.envoy.filters.[x]", values: ["[]", "[*]", "*", ""] },
  { key: "connection.sni", values: ["*", "*.a", "a*", "é"] },
  { key: "source.principal", values: [`*${LONG}`, `*${LONG}${LONG}`, "*\u0000", "*\ud800", "*é(["] },
  // All lengths around the limit from which the expression carries its own size limit.
  { key: "source.principal", values: Array.from({ length: 40 }, (_, i) => `*${LONG.slice(0, 40 + i)}`) },
  { key: "source.namespace", values: Array.from({ length: 40 }, (_, i) => `*${LONG.slice(0, i)}*`) },
  { key: "source.namespace", values: ["*a*b*c*", "*".repeat(30), ".", "a.b"] },
  { key: "source.serviceAccount", values: Array.from({ length: 60 }, (_, i) => `ns/${LONG.slice(0, i + 1)}`) },
  { key: "source.ip", values: ["0.0.0.0/0", "::/0", "0.0.0.0", "10.1.2.3/8", "::ffff:10.0.0.1"] },
];

const HOSTS = [
  ...["é.example", "a\u0000b", "[x", "*.(", "x\\", "\n", "[::1]", "[::1]:80", "a:", "*:80", "\ud800"],
  ...Array.from({ length: 60 }, (_, i) => `${"sk".repeat(i + 1)}.test`),
  ...Array.from({ length: 60 }, (_, i) => `*.${LONG.slice(0, i + 1)}`),
];

Deno.test({
  name: "Envoy takes every listener, whatever rules hold",
  ignore: binary === undefined,
  async fn() {
    const policies = [
      ...PATHS.map((path) => policy({ paths: [path] })),
      ...WHEN.map((one) => policy({ ports: ["80"] }, [one])),
      policy({ hosts: HOSTS }),
      policy({ methods: ["\n", "G T", "*", "*T", "G*"], ports: ["0", "65535"] }),
    ];
    const listeners = policies.map((object, i) => {
      const read = meshReader({ properties: { namespace: "shop" }, objects: [object] });
      const { message } = inboundListeners(read, [TARGET]).listeners.at(-1)!;
      return {
        ...message,
        name: `l${i}`,
        address: { socket_address: { address: "127.0.0.1", port_value: 20_000 + i } },
      };
    });
    const all = await validate(binary!, { listeners });
    if (all.accepted) return;
    for (const [i, listener] of listeners.entries()) {
      const one = await validate(binary!, { listeners: [listener] });
      assert.ok(one.accepted, `${JSON.stringify(policies[i])}\n${one.output}`);
    }
    assert.fail(all.output);
  },
});
