/** Services whose proxies resolve the host that each request names: a real Envoy, names of the loopback (RFC 6761), a name server. */
import assert from "node:assert/strict";
import { connect } from "node:tls";
import { withPorts } from "../../scripts/ports.ts";
import { askNamed, dynamicDnsWorld, ruledWorld, SIDECAR } from "./support/dynamic_dns_world.ts";
import { envoyPath, testBothModes, TestMesh } from "./support/mesh.ts";
import { inOwnNetwork, NAME_SERVER, withoutOwnNetwork } from "./support/own_network.ts";
import { until } from "../patience.ts";

const path = envoyPath();
const pem = new URL("../testdata/pem/", import.meta.url).pathname;

/** Whether TLS with a server of this name comes about. */
function reaches(port: number, servername: string): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const socket = connect({ host: SIDECAR, port, servername, rejectUnauthorized: false }, () => resolve(true));
  socket.on("error", () => resolve(false));
  socket.on("close", () => resolve(false));
  return promise.finally(() => socket.destroy());
}

testBothModes({
  name:
    "DYNAMIC_DNS: a proxy resolves the host of a request, and the server name of a TLS client, that the wildcard of a service entry covers",
  ignore: path === undefined,
  fn: (onDemand) =>
    withPorts(2, async ([requests = 0, names = 0]) => {
      const at = { hostname: "127.0.0.1", onListen() {} };
      const [cert, key] = await Promise.all(["cert", "key"].map((name) => Deno.readTextFile(`${pem}${name}.pem`)));
      await using _plain = Deno.serve(
        { ...at, port: requests },
        (request) => new Response(request.headers.get("host")),
      );
      await using _tls = Deno.serve({ ...at, port: names, cert: cert!, key: key! }, () => new Response("hello"));
      await using mesh = await TestMesh.start({
        onDemand,
        files: { "world.yaml": dynamicDnsWorld("*.localhost", requests, names) },
      });
      const identity = { name: "client", namespace: "demo", address: "127.0.0.1", labels: { app: "client" } };
      await mesh.attach(path!, { ...identity, type: "sidecar" }, true);
      const host = `a.localhost:${requests}`;
      await until("an answer of the host", async () => await askNamed(requests, host) === host);
      assert.equal(await askNamed(requests, `b.c.localhost:${requests}`), `b.c.localhost:${requests}`);
      assert.equal(await askNamed(requests, `other.test:${requests}`), "502", "a host that no service entry has");
      await until("the server of the name", () => reaches(names, "a.localhost"));
      assert.equal(await reaches(names, "other.test"), false);
      await mesh.settled();
    }),
});

testBothModes({
  name: "DYNAMIC_DNS: a rule for bytes dials the host that the rule names, and so does a mirror",
  ignore: path === undefined,
  fn: (onDemand) =>
    withPorts(4, async ([requests = 0, names = 0, bytes = 0, copied = 0]) => {
      const at = { hostname: "127.0.0.1", onListen() {} };
      const [cert, key] = await Promise.all(["cert", "key"].map((name) => Deno.readTextFile(`${pem}${name}.pem`)));
      await using _tls = Deno.serve({ ...at, port: names, cert: cert!, key: key! }, () => new Response("hello"));
      await using _plain = Deno.serve({ ...at, port: copied }, () => new Response("original"));
      const { promise: copy, resolve: copyArrives } = Promise.withResolvers<string | null>();
      await using _copies = Deno.serve({ ...at, port: requests }, (request) => {
        copyArrives(request.headers.get("host"));
        return new Response("copy");
      });
      const world = ruledWorld("a.localhost", { requests, names, bytes, copied });
      await using mesh = await TestMesh.start({ onDemand, files: { "world.yaml": world } });
      const identity = { name: "client", namespace: "demo", address: "127.0.0.1", labels: { app: "client" } };
      await mesh.attach(path!, { ...identity, type: "sidecar" }, true);
      await until("the server of the rule", () => reaches(bytes, "other.test"));
      await until("an answer of the copied service", async () => await askNamed(copied, "plain.test") === "original");
      assert.equal(await copy, `a.localhost:${requests}`);
      await mesh.settled();
    }),
});

const missing = path === undefined ? "no Envoy" : withoutOwnNetwork;

Deno.test({
  name: "DYNAMIC_DNS: a proxy follows what a name server answers" + (missing ? ` [${missing}]` : ""),
  ignore: missing !== undefined,
  fn: () =>
    inOwnNetwork(new URL("support/dynamic_dns_cases.ts", import.meta.url), {
      resolvConf: `nameserver ${NAME_SERVER}\n`,
    }),
});
