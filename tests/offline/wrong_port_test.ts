/** The verbs at a port of another program: the error says who answered, what was expected, and where it may be. */
import assert from "node:assert/strict";
import { createServer } from "node:http2";
import { askServer, askText } from "../../cmd/pilot-discovery/ask_server.ts";
import { listenTls } from "../../lib/sockets/listen/tls.ts";
import { pilotDiscovery } from "../cmd/offline.ts";
import { Authority, openssl } from "../certificates.ts";
import { withServer } from "../discovery/running.ts";
import { envoyPath } from "../envoy/path.ts";
import { startEnvoyProcess } from "../../scripts/envoy.ts";
import { example } from "./mesh_of.ts";

const PAGES = /expected the debug pages of a discovery server, such as 127\.0\.0\.1:8080 or 127\.0\.0\.1:15014$/;

/** The error of a question to a port, without its address. */
async function errorAt(port: number, options: Parameters<typeof askServer>[2] = {}): Promise<string> {
  const url = new URL(`http://127.0.0.1:${port}/debug/syncz`);
  const error = await askServer("GET", url, options).then(() => assert.fail("answered"), (error: Error) => error);
  assert.ok(error.message.startsWith(`${url.origin}: `), error.message);
  return error.message.slice(url.origin.length + 2);
}

Deno.test("a web page, a redirect, other JSON and a plain refusal of other programs are named, not printed", async () => {
  let answer = () => new Response("");
  await using other = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen: () => {} }, () => answer());
  const says = async (one: () => Response, options = {}) => {
    answer = one;
    return await errorAt(other.addr.port, options);
  };
  const html = { "content-type": "text/html" };
  const page = "<html><title>Grafana</title><script>everything</script></html>";
  const cases: [() => Response, string, object?][] = [
    [() => new Response(page, { headers: html }), 'got a web page with the title "Grafana", status 200'],
    [() => new Response(page, { status: 404, headers: html }), 'got a web page with the title "Grafana", status 404'],
    [
      () => new Response(null, { status: 302, headers: { location: "https://a.example/login" } }),
      'got a redirect to "https://a.example/login"',
    ],
    [() => new Response("404 page not found\n", { status: 404 }), 'got status 404 and "404 page not found"'],
    [() => new Response("", { status: 503 }), "got status 503 without a text"],
    [() => new Response("ok"), 'got status 200 and "ok"'],
    [() => new Response(`{"message":"no"}`), "got JSON without the field clients", { field: "clients" }],
  ];
  for (const [one, text, options] of cases) {
    const said = await says(one, options);
    assert.ok(said.startsWith(`${text}; `), said);
    assert.match(said, PAGES);
  }
  const proxy = new URL(`http://127.0.0.1:${other.addr.port}/logging`);
  answer = () => new Response(page, { status: 404, headers: html });
  await assert.rejects(
    askText("POST", proxy, { asked: "proxy" }),
    /web page.*; expected the admin port of a proxy, such/,
  );
});

Deno.test("ports of gRPC, of HTTP/2 and of nobody are told apart; a server's own refusal stays as it is", async () => {
  await withServer(example("shop"), async ({ ports }) => {
    assert.match(await errorAt(ports.grpc), /^the port closes the connection without an answer, as ports of gRPC/);
    const server = `--server=127.0.0.1:${ports.http}`;
    const [refused, tls] = await Promise.all([
      pilotDiscovery(["proxy-config", "clusters", "a.b", server]),
      pilotDiscovery(["proxy-status", `--server=https://127.0.0.1:${ports.http}`]),
    ]);
    assert.match(refused!.err, /^Error: http:\S+: no proxy whose connection id contains "~a\.b~"/);
    assert.doesNotMatch(refused!.err, /expected the debug pages/);
    assert.match(`${tls!.code} ${tls!.err.trim()}`, /^2 .*: got https, which is not served; /);
    assert.match(tls!.err.trim(), PAGES);
  });
  const closed = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  closed.close();
  assert.match(await errorAt((closed.addr as Deno.NetAddr).port), /; is the server running\?$/);
  const http2 = createServer();
  await new Promise<void>((resolve) => void http2.listen(0, "127.0.0.1", resolve));
  const { port } = http2.address() as { port: number };
  assert.match(await errorAt(port), /^the port speaks HTTP\/2, as ports of gRPC do; /);
  await new Promise((resolve) => http2.close(resolve));
});

Deno.test({
  name: "a port of TLS is called one",
  ignore: !openssl,
  fn: async () => {
    const authority = await Authority.make("ours");
    const { certificate, key: privateKey } = await authority.sign("localhost");
    const listener = await listenTls({ host: "127.0.0.1", port: 0 }, { certificate, privateKey }, () => {});
    try {
      assert.match(await errorAt(listener.port), /^the port speaks TLS; expected the debug pages/);
    } finally {
      await listener.close();
      await authority.remove();
    }
  },
});

Deno.test({
  name: "the admin port of a real Envoy is called one",
  ignore: envoyPath() === undefined,
  fn: async () => {
    const bootstrap = { admin: { address: { socket_address: { address: "127.0.0.1", port_value: 0 } } } };
    await using envoy = await startEnvoyProcess({ binary: envoyPath()!, bootstrap });
    assert.match(await errorAt(envoy.adminPort), /^got the answer of a proxy's admin port; expected the debug pages/);
  },
});
