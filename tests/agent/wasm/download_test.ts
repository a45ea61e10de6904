import assert from "node:assert/strict";
import { wholeBytes } from "../../../lib/agent/wasm/fetch/bounded_bytes.ts";
import { download, type DownloadRules, refusedAddress } from "../../../lib/agent/wasm/fetch/download.ts";
import { PATIENCE } from "../../patience.ts";
import { TestWebServer } from "../support/web_server.ts";

const rules = (changed: Partial<DownloadRules> = {}): DownloadRules => ({
  timeout: PATIENCE,
  insecure: new Set(),
  roots: () => Promise.resolve(""),
  ...changed,
});
const never = new AbortController().signal;

async function text(url: string, changed: Partial<DownloadRules> = {}, headers = {}): Promise<string> {
  const answer = await download(rules(changed), { url, headers }, never);
  return `${answer.status} ${new TextDecoder().decode(await wholeBytes(answer.body))}`;
}

Deno.test("which addresses are asked, by who names them", () => {
  const table: readonly (readonly [string, boolean, boolean])[] = [
    ["93.184.216.34", true, true],
    ["10.1.2.3", true, true],
    ["127.0.0.1", true, false],
    ["127.9.9.9", true, false],
    ["0.0.0.0", true, false],
    ["::1", true, false],
    ["::ffff:127.0.0.1", true, false],
    ["64:ff9b::7f00:1", true, false],
    ["169.254.169.254", false, false],
    ["::ffff:169.254.169.254", false, false],
    ["64:ff9b::a9fe:a9fe", false, false],
    ["fe80::1", false, false],
    ["fd00:ec2::254", false, false],
    ["100.100.100.200", false, false],
    ["224.0.0.1", false, false],
    ["2606:4700::1111", true, true],
    ["nonsense", false, false],
  ];
  for (const [address, byConfiguration, byServer] of table) {
    assert.equal(refusedAddress(address, "configuration") === undefined, byConfiguration, address);
    assert.equal(refusedAddress(address, "server") === undefined, byServer, address);
  }
});

Deno.test("a redirect on the same server is followed; one to another loopback port, to link-local and to metadata is not", async () => {
  await using inner = new TestWebServer(() => new Response("secret"));
  await using outer = new TestWebServer((request) => {
    const { pathname, searchParams } = new URL(request.url);
    if (pathname === "/end") return new Response("there");
    return new Response(null, { status: 302, headers: { location: searchParams.get("to")! } });
  });
  assert.equal(await text(`http://${outer.host}/?to=/end`), "200 there");
  for (
    const to of [
      `http://${inner.host}/`,
      `http://localhost:${inner.port}/`,
      "http://169.254.169.254/latest/",
      "http://[::ffff:a9fe:a9fe]/",
      "http://2852039166/",
    ]
  ) {
    await assert.rejects(text(`http://${outer.host}/?to=${encodeURIComponent(to)}`), /is not asked/, to);
  }
  await assert.rejects(
    text(`http://${outer.host}/?to=${encodeURIComponent("file:///etc/passwd")}`),
    /expected an address that begins/,
  );
  assert.deepEqual(inner.asked, []);
});

Deno.test("a name that resolves to a link-local address is not asked, nor one that has such an address among others", async () => {
  for (const addresses of [["169.254.169.254"], ["93.184.216.34", "169.254.169.254"]]) {
    await assert.rejects(
      text("http://modules.test/a.wasm", { resolve: () => Promise.resolve(addresses) }),
      /modules\.test is 169\.254\.169\.254, a link-local address, is not asked/,
    );
  }
  await assert.rejects(
    text("http://modules.test/", { resolve: () => Promise.resolve([]) }),
    /modules\.test has no address/,
  );
});

Deno.test("the checked address is dialled, with the name of the host", async () => {
  await using server = new TestWebServer((request) => new Response(request.headers.get("host")));
  let resolved = 0;
  const resolve = () => Promise.resolve([resolved++ === 0 ? "127.0.0.1" : "169.254.169.254"]);
  assert.equal(await text(`http://modules.test:${server.port}/`, { resolve }), `200 modules.test:${server.port}`);
  assert.equal(resolved, 1);
});

Deno.test("credentials go no further than the host that was asked", async () => {
  const answer = (request: Request) => new Response(request.headers.get("authorization") ?? "none");
  await using other = new TestWebServer(answer);
  await using first = new TestWebServer((request) =>
    request.url.endsWith("/same") ? answer(request) : new Response(null, {
      status: 307,
      headers: { location: request.url.endsWith("/here") ? "/same" : `http://${other.host}/` },
    })
  );
  const refused = () => undefined;
  const headers = { authorization: "Bearer secret" };
  assert.equal(await text(`http://${first.host}/here`, { refused }, headers), "200 Bearer secret");
  assert.equal(await text(`http://${first.host}/there`, { refused }, headers), "200 none");
});

Deno.test("a user and a password in an address are shown to its server, and in no reason", async () => {
  await using server = new TestWebServer((request) =>
    request.url.endsWith("/loop")
      ? new Response(null, { status: 302, headers: { location: "http://me:secret@169.254.169.254/" } })
      : new Response(request.headers.get("authorization"))
  );
  assert.equal(await text(`http://me:p%40ss@${server.host}/`), `200 Basic ${btoa("me:p@ss")}`);
  const hidden = (error: Error) => !/secret/.test(error.message);
  await assert.rejects(text(`http://me:secret@${server.host}/loop`), hidden);
  await assert.rejects(text("ftp://me:secret@modules.test/"), hidden);
});

Deno.test("endless redirects, a missing head, a body that stops and a body that is cut off are errors", async () => {
  const stop = Promise.withResolvers<Response>();
  await using server = new TestWebServer((request) => {
    const { pathname } = new URL(request.url);
    if (pathname === "/loop") return new Response(null, { status: 302, headers: { location: "/loop" } });
    if (pathname === "/silent") return stop.promise;
    return new Response(new ReadableStream({ start: (body) => body.enqueue(new Uint8Array(10)) }));
  });
  await assert.rejects(text(`http://${server.host}/loop`), /redirects more than 10 times/);
  const brief = { timeout: 200 };
  await assert.rejects(text(`http://${server.host}/silent`, brief), /no answer within 0\.2 s/);
  await assert.rejects(text(`http://${server.host}/stops`, brief), /no answer within 0\.2 s/);
  stop.resolve(new Response());
  using listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const served = (async () => {
    using connection = await listener.accept();
    await connection.read(new Uint8Array(1000));
    await connection.write(new TextEncoder().encode("HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nhalf"));
  })();
  await assert.rejects(text(`http://127.0.0.1:${listener.addr.port}/`), /127\.0\.0\.1:\d+\//);
  await served;
});

Deno.test("a server that is not there is an error that may pass, with its address", async () => {
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const { port } = listener.addr;
  listener.close();
  await assert.rejects(text(`http://127.0.0.1:${port}/a.wasm`), (error: Error & { isTemporary?: boolean }) => {
    assert.match(error.message, new RegExp(`http://127.0.0.1:${port}/a.wasm: .*ECONNREFUSED`));
    return error.isTemporary === true;
  });
});
