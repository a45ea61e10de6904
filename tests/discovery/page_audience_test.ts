/**
 * Every debug page under one rule, by HTTP from another machine and on discovery's streams: the pages of each client.
 */
import assert from "node:assert/strict";
import { PAGES } from "../../lib/debug/pages.ts";
import { TestIssuer } from "../authenticators/support/issuer.ts";
import { PATIENCE } from "../patience.ts";
import { QuestionClient } from "./question_client.ts";
import { withServer } from "./running.ts";
import { idOf } from "./token_clients.ts";

/** An address of this machine beside loopback: a client from there counts as a client from another machine. */
const own = Deno.networkInterfaces().find(({ family, address }) => family === "IPv4" && !address.startsWith("127."));

const FILES = {
  "secret.yaml": `apiVersion: networking.mesh.io/v1
kind: ServiceEntry
metadata: { name: hidden-entry, namespace: bank }
spec:
  hosts: [hidden.example.com]
  exportTo: [.]
  ports: [{ number: 80, name: http, protocol: HTTP }]
  resolution: STATIC
  endpoints: [{ address: 10.0.0.9 }]
`,
};

/** Queries that make each page show something; other pages need no query. */
const QUERIES: Readonly<Record<string, string>> = {
  config_dump: "proxyID=PROXY",
  ndsz: "proxyID=PROXY",
  edsz: "proxyID=PROXY",
  ecdsz: "proxyID=PROXY",
  sidecarz: "proxyID=PROXY",
  live: "object=ServiceEntry/bank/hidden-entry",
  search: "q=hidden",
  describe: "service=hidden.example.com",
  learned_scope: "workload=shop/cart-1",
  explain: "from=shop/cart-1&to=http://hidden.example.com",
};

/** The rule: these pages are about a single proxy. A new page changes this line, and is thought about. */
const OWN = ["config_dump", "ndsz", "edsz"];

const BROWSER = { accept: "text/html" };

Deno.test({
  name:
    "another machine may see the same pages by HTTP as on a stream: no page, pages of its own proxies, or all pages",
  ignore: own === undefined,
  async fn() {
    await using issuer = await TestIssuer.start();
    const rule = JSON.stringify({ issuer: issuer.url, jwksUri: `${issuer.url}/keys`, audiences: ["mesh-ca"] });
    const settings = { JWT_RULE: rule, XDS_AUTH_PLAINTEXT: true, UNSAFE_ENABLE_ADMIN_ENDPOINTS: true };
    await withServer(FILES, async ({ ports, xds }) => {
      const tokenOf = (namespace: string, account: string) =>
        issuer.token({ sub: `system:serviceaccount:${namespace}:${account}` });
      const connect = async (name: string, namespace: string, account = name) =>
        await QuestionClient.connect(ports.grpc, idOf(name, namespace), await tokenOf(namespace, account));
      using cart = await connect("cart-1", "shop", "cart");
      using bank = await connect("bank-1", "bank", "teller");
      await Promise.all([cart.subscribe(), bank.subscribe()]);
      assert.equal(await xds.ledger.waitLive(0, PATIENCE), true);

      const get = async (path: string, token?: string, headers: Record<string, string> = {}, method = "GET") => {
        const authorization = token === undefined ? {} : { authorization: `Bearer ${token}` };
        const init = { method, headers: { ...headers, ...authorization } };
        const response = await fetch(`http://${own!.address}:${ports.http}/debug/${path}`, init);
        return { status: response.status, body: await response.text() };
      };
      const [shop, system] = await Promise.all([tokenOf("shop", "cart"), tokenOf("mesh-system", "operator")]);
      const onStream = async (name: string, namespace: string, account: string) => {
        using tool = await connect("tool-1", namespace, account);
        return await tool.page(name);
      };
      for (const { path, methods = ["GET"] } of PAGES) {
        if (!methods.includes("GET")) continue;
        const name = (proxy: string) => {
          const query = QUERIES[path]?.replace("PROXY", proxy);
          return query === undefined ? path : `${path}?${query}`;
        };
        for (const headers of [{}, BROWSER]) {
          assert.equal((await get(name("cart-1"), undefined, headers)).status, 401, path);
        }
        assert.ok([200, 404, 501].includes((await get(name("cart-1"), system)).status), path);
        assert.doesNotMatch(await onStream(name("cart-1"), "mesh-system", "operator"), /^PermissionDenied$/, path);
        const isOwn = OWN.includes(path);
        for (const headers of [{}, BROWSER]) {
          const { status, body } = await get(name("cart-1"), shop, headers);
          assert.equal(status, path === "ndsz" ? 404 : isOwn ? 200 : 403, path);
          assert.doesNotMatch(body, /hidden-entry|hidden\.example|bank-1|<!doctype/i, path);
          const other = await get(name("bank-1"), shop, headers);
          assert.equal(other.status, isOwn ? 404 : 403, path);
          assert.doesNotMatch(other.body, /hidden|teller|<!doctype/i, path);
        }
        const said = await onStream(name("cart-1"), "shop", "cart");
        assert.equal(said === "PermissionDenied", !isOwn, path);
        const other = await onStream(name("bank-1"), "shop", "cart");
        assert.match(other, isOwn ? /^no proxy whose connection id contains "bank-1"/ : /^PermissionDenied$/, path);
      }
      for (
        const path of ["list", "events", "assets/page.js", "no_such_page", "config_dump/x", "%63onfigz", "configz/"]
      ) {
        assert.equal((await get(path)).status, 401, path);
        assert.equal((await get(path, shop)).status, 403, path);
        assert.equal((await get(path, shop, BROWSER)).status, 403, path);
      }
      for (
        const change of [
          "adsz?push=any",
          "force_disconnect?proxyID=cart-1",
          "preview",
          "cachez?clear",
          "scopez?scope=ads",
        ]
      ) {
        for (const method of ["POST", "PUT"]) {
          assert.equal((await get(change, undefined, {}, method)).status, 401, change);
          assert.equal((await get(change, shop, {}, method)).status, 403, change);
        }
      }
      assert.deepEqual(await get("adsz?push=any", system, {}, "POST"), { status: 200, body: "Pushed to 2 servers\n" });
    }, { options: { http: ":0" }, settings });
  },
});

Deno.test("the rule's table lists exactly the pages about one proxy", () => {
  assert.deepEqual(PAGES.filter(({ ofProxy }) => ofProxy).map(({ path }) => path), OWN);
});
