import assert from "node:assert/strict";
import { type RequestHead, textResponse } from "../../lib/http/message.ts";
import { guardedRoutes, type Route } from "../../lib/http/route.ts";
import { type LoadRoutes, Router } from "../../lib/http/router.ts";

const route = (methods: Route["methods"], path: string): Route => ({
  methods,
  path,
  handle: () => textResponse(200, ""),
});

const head = (method: string, path: string): RequestHead => ({
  ...{ method, path, query: new URLSearchParams(), headers: {}, host: "x", peer: { address: "127.0.0.1:1" } },
});

async function found(router: Router, method: string, path: string): Promise<string | number> {
  const match = await router.find(head(method, path));
  return "route" in match ? `${match.route.path} ${JSON.stringify(match.params)}` : match.status;
}

Deno.test("a path is found by its segments: literal before named, named in order, `*` for the rest", async () => {
  const router = new Router([
    route(["GET"], "/"),
    route(["GET"], "/pods/:namespace/:name"),
    route(["GET"], "/pods/all/one"),
    route(["PUT"], "/pods/:namespace/:name"),
    route("any", "/debug/*"),
    route(["GET"], "/debug"),
    route(["GET"], "/debug/live"),
  ]);
  assert.equal(await found(router, "GET", "/"), "/ {}");
  assert.equal(await found(router, "GET", "/pods/a/b"), '/pods/:namespace/:name {"namespace":"a","name":"b"}');
  assert.equal(await found(router, "GET", "/pods/all/one"), "/pods/all/one {}");
  assert.equal(
    await found(router, "GET", "/pods/a%2Fb/%E2%82%AC/"),
    '/pods/:namespace/:name {"namespace":"a/b","name":"€"}',
  );
  assert.equal(await found(router, "GET", "/pods/all%2Fone"), 404, "an encoded slash separates nothing");
  assert.equal(await found(router, "PUT", "/pods/a/b"), '/pods/:namespace/:name {"namespace":"a","name":"b"}');
  assert.equal(await found(router, "DELETE", "/pods/a/b"), 405);
  assert.equal(await found(router, "GET", "/pods/a/"), 404);
  assert.equal(await found(router, "GET", "/pods//b"), 404);
  assert.equal(await found(router, "GET", "/debug/"), "/debug {}");
  assert.equal(await found(router, "GET", "/debug/live/"), "/debug/live {}");
  assert.equal(await found(router, "BREW", "/debug/a/b/c"), "/debug/* {}");
  assert.equal(await found(router, "POST", "/debug/live"), 405);
  assert.equal(await found(router, "GET", "//debug"), 404);
  assert.equal(await found(router, "GET", "/debug/../debug"), "/debug/* {}", "dots mean nothing");
  assert.equal(await found(router, "GET", "/%zz"), 400);
});

Deno.test("two routes of one path and method are a mistake in the code", () => {
  assert.throws(
    () => new Router([route(["GET"], "/a"), route(["PUT", "GET"], "/a/")]),
    /two routes of the same method/,
  );
  assert.throws(() => new Router([route(["GET"], "/a/:b"), route("any", "/a/:b")]), /two routes of the same method/);
  assert.throws(() => new Router([route(["GET"], "/*/a")]), /\* stands at the end/);
});

Deno.test("guards are asked in order: outer guards before a route's own guards, and before a wrong method is reported", async () => {
  const asked: string[] = [];
  const guard = (name: string, refuses: boolean) => () => {
    asked.push(name);
    return refuses ? textResponse(403, name) : undefined;
  };
  const inner: Route = { ...route(["PUT"], "/a"), guards: [guard("inner", true)] };
  const router = new Router(guardedRoutes([inner], guard("first", false), guard("second", false)));
  const refused = await router.find(head("GET", "/a"));
  assert.ok("status" in refused);
  assert.deepEqual([refused.status, refused.body], [403, "inner"]);
  assert.deepEqual(asked, ["first", "second", "inner"]);
});

Deno.test("late routes are loaded once, at the first request for a path that the first routes lack", async () => {
  let loads = 0;
  const { promise, resolve } = Promise.withResolvers<Route[]>();
  const load: LoadRoutes = () => (loads++, promise);
  const router = new Router([route(["GET"], "/ready")], load);
  assert.equal(await found(router, "GET", "/ready"), "/ready {}");
  assert.equal(await found(router, "POST", "/ready"), 405);
  assert.equal(loads, 0);
  const asked = [found(router, "GET", "/debug"), found(router, "GET", "/debug/a"), found(router, "GET", "/none")];
  resolve([route(["GET"], "/debug"), route(["GET"], "/debug/:name")]);
  assert.deepEqual(await Promise.all(asked), ["/debug {}", '/debug/:name {"name":"a"}', 404]);
  assert.equal(await found(router, "GET", "/none"), 404);
  assert.equal(loads, 1);
});

Deno.test("routes that could not be loaded are loaded again for the next request", async () => {
  let loads = 0;
  const router = new Router([], () => {
    if (++loads === 1) return Promise.reject(new Error("no file"));
    return Promise.resolve([route(["GET"], "/debug")]);
  });
  await assert.rejects(found(router, "GET", "/debug"), /no file/);
  assert.equal(await found(router, "GET", "/debug"), "/debug {}");
});
