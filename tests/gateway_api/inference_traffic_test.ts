/** Requests to InferencePools, with a real Envoy and endpoint pickers. */
import assert from "node:assert/strict";
import { ANSWERED, WANTED } from "../conformance/picker/picker.ts";
import { PICKED } from "../conformance/picker/messages.ts";
import { Authority, openssl } from "../certificates.ts";
import { envoyPath } from "../envoy/path.ts";
import { ask, type Asked } from "./derive/traffic.ts";
import { backendService, document, edgeGateway, httpRoute, ruleTo } from "./folder_world.ts";
import { pickerEntry, pool, poolWorkload, runPicker, runService, toPool, WITH_POOLS } from "./inference_world.ts";
import { withBackends, withFolder } from "./running_folder.ts";

const binary = envoyPath();
const ignore = binary === undefined;

const EDGE = { namespace: "shop", name: "edge" };
const GATEWAY = edgeGateway([{ name: "http", port: 80, protocol: "HTTP" }]);

const at = (value: string, ...backendRefs: readonly object[]) => ({
  matches: [{ path: { type: "PathPrefix", value } }],
  backendRefs,
});

Deno.test({
  name: "the picked endpoint of a pool gets the request, and the picker learns which endpoint has answered",
  ignore,
  fn: () =>
    withBackends({ a: {}, b: {}, c: {} }, async (ports) => {
      const [a, b, c] = ["a", "b", "c"].map((name) => ports[name]!) as [number, number, number];
      const endpoints = [a, b].map((port) => `127.0.0.1:${port}`);
      await using picker = await runPicker(() => endpoints);
      const text = GATEWAY + pool("models", "models", [a, b], "picker") + poolWorkload("models") +
        pickerEntry("picker", picker.port) + backendService("c", c) +
        httpRoute("web", [at("/models", toPool("models")), ruleTo("c")]);
      await withFolder(binary!, text, EDGE, async ({ socket }) => {
        const got = async (asked: Asked) => {
          const { status, headers, seen } = await ask({ socket: socket(80) }, asked);
          return [status, seen?.backend, headers[ANSWERED]];
        };
        for (const [name, endpoint] of [["a", endpoints[0]!], ["b", endpoints[1]!], ["a", endpoints[0]!]] as const) {
          assert.deepEqual(await got({ path: "/models", headers: { [WANTED]: endpoint } }), [200, name, endpoint]);
        }
        // The client's own choice does not count.
        const both = { [WANTED]: endpoints[0]!, [PICKED]: endpoints[1]! };
        assert.deepEqual(await got({ path: "/models", headers: both }), [200, "a", endpoints[0]]);
        // The first of several picked endpoints has precedence.
        const list = { [WANTED]: [...endpoints].reverse().join(",") };
        assert.deepEqual(await got({ path: "/models", headers: list }), [200, "b", endpoints[1]]);
        assert.deepEqual(await got({ path: "/models", headers: { [WANTED]: "10.0.0.1" } }), [
          503,
          undefined,
          undefined,
        ]);
        // The picker is not asked about other rules.
        assert.deepEqual(await got({ path: "/", headers: { [WANTED]: endpoints[0]! } }), [200, "c", undefined]);
      }, WITH_POOLS);
    }),
});

Deno.test({
  name: "a picker that is away: FailClose refuses requests, FailOpen balances them, whatever endpoint a client names",
  ignore,
  fn: () =>
    withBackends({ a: {}, b: {} }, async (ports) => {
      const [a, b] = [ports["a"]!, ports["b"]!];
      const text = GATEWAY + pool("open", "models", [a, b], "picker", { failureMode: "FailOpen" }) +
        pool("closed", "models", [a, b], "picker") + poolWorkload("models") + pickerEntry("picker") +
        httpRoute("web", [at("/open", toPool("open")), at("/closed", toPool("closed"))]);
      await withFolder(binary!, text, EDGE, async ({ socket }) => {
        const answers = async (path: string) => {
          const all = [];
          for (let count = 0; count < 12; count++) {
            const headers = { [PICKED]: `127.0.0.1:${a}` };
            const { status, seen } = await ask({ socket: socket(80) }, { path, headers });
            all.push(seen?.backend ?? status);
          }
          return [...new Set(all)].sort();
        };
        assert.deepEqual(await answers("/open"), ["a", "b"]);
        assert.deepEqual(await answers("/closed"), [500]);
      }, WITH_POOLS);
    }),
});

Deno.test({
  name: "a request with a body reaches the endpoint that the picker chooses after it has read the body",
  ignore,
  fn: () =>
    withBackends({ a: {}, b: {} }, async (ports) => {
      const [a, b] = [ports["a"]!, ports["b"]!];
      await using picker = await runPicker(() => [a, b].map((port) => `127.0.0.1:${port}`));
      const text = GATEWAY + pool("models", "models", [a, b], "picker") + poolWorkload("models") +
        pickerEntry("picker", picker.port) + httpRoute("web", [at("/", toPool("models"))]);
      await withFolder(binary!, text, EDGE, async ({ socket }) => {
        for (const [name, port] of [["a", a], ["b", b]] as const) {
          const body = JSON.stringify({ model: "m", prompt: "x".repeat(100_000) });
          const { status, seen } = await ask({ socket: socket(80) }, {
            ...{ method: "POST", path: "/", body },
            headers: { [WANTED]: `127.0.0.1:${port}` },
          });
          assert.deepEqual([status, seen?.backend, seen?.bytes], [200, name, body.length]);
        }
      }, WITH_POOLS);
    }),
});

Deno.test({
  name: "a picked endpoint that cannot be reached: the request is sent again, to the next picked endpoint",
  ignore,
  fn: () =>
    withBackends({ a: {}, b: {} }, async (ports) => {
      const [a, b] = [ports["a"]!, ports["b"]!];
      // Nobody listens at port 1.
      await using picker = await runPicker(() => [1, a, b].map((port) => `127.0.0.1:${port}`));
      const text = GATEWAY + pool("models", "models", [1, a, b], "picker") + poolWorkload("models") +
        pickerEntry("picker", picker.port) + httpRoute("web", [at("/", toPool("models"))]);
      await withFolder(binary!, text, EDGE, async ({ socket }) => {
        for (const [name, port] of [["a", a], ["b", b]] as const) {
          const headers = { [WANTED]: `127.0.0.1:1,127.0.0.1:${port}` };
          const got = await ask({ socket: socket(80) }, { path: "/", headers });
          assert.deepEqual([got.status, got.seen?.backend, got.headers[ANSWERED]], [200, name, `127.0.0.1:${port}`]);
        }
      }, WITH_POOLS);
    }),
});

Deno.test({
  name: "a picker with a certificate of its own is asked by TLS where a DestinationRule says so, and by no other means",
  ignore: ignore || !openssl,
  async fn() {
    const authority = await Authority.make("stranger");
    try {
      const own = await authority.sign("picker");
      await withBackends({ a: {} }, async (ports) => {
        await using picker = await runPicker(() => [`127.0.0.1:${ports["a"]}`], own);
        const text = GATEWAY + pool("models", "models", [ports["a"]!], "picker") + poolWorkload("models") +
          pickerEntry("picker", picker.port) + httpRoute("web", [at("/", toPool("models"))]);
        const rule = document({
          apiVersion: "networking.mesh.io/v1",
          kind: "DestinationRule",
          metadata: { name: "picker", namespace: "shop" },
          spec: {
            host: "picker.shop.svc.cluster.local",
            trafficPolicy: { tls: { mode: "SIMPLE", insecureSkipVerify: true } },
          },
        });
        const status = async (text: string) => {
          let got = 0;
          await withFolder(binary!, text, EDGE, async ({ socket }) => {
            got = (await ask({ socket: socket(80) }, { path: "/" })).status;
          }, WITH_POOLS);
          return got;
        };
        assert.deepEqual([await status(text + rule), await status(text)], [200, 500]);
      });
    } finally {
      await authority.remove();
    }
  },
});

Deno.test({
  name: "a picker that takes a call and never answers: the request ends after the timeout of its rule",
  ignore,
  fn: () =>
    withBackends({ a: {} }, async (ports) => {
      const Process = { name: "Process", input: "", output: "" };
      await using silent = await runService({
        name: "envoy.service.ext_proc.v3.ExternalProcessor",
        methods: [{ ...Process, handle: (call) => call.start({ message() {} }) }],
      });
      const text = GATEWAY + pool("models", "models", [ports["a"]!], "picker", { failureMode: "FailOpen" }) +
        poolWorkload("models") + pickerEntry("picker", silent.port) +
        httpRoute("web", [{ ...at("/", toPool("models")), timeouts: { request: "300ms" } }]);
      await withFolder(binary!, text, EDGE, async ({ socket }) => {
        const { status, seen } = await ask({ socket: socket(80) }, { path: "/" });
        assert.deepEqual([status, seen], [504, undefined]);
      }, WITH_POOLS);
    }),
});

Deno.test({
  name: "requests are split among pools and Services by weight, and each pool asks its own picker",
  ignore,
  fn: () =>
    withBackends({ a: {}, b: {}, c: {} }, async (ports) => {
      const [a, b, c] = ["a", "b", "c"].map((name) => ports[name]!) as [number, number, number];
      await using first = await runPicker(() => [`127.0.0.1:${a}`]);
      await using second = await runPicker(() => [`127.0.0.1:${b}`]);
      const refs = [
        toPool("one", { weight: 1 }),
        toPool("two", { weight: 1 }),
        { name: "c", port: 8080, weight: 1 },
        toPool("missing", { weight: 1 }),
      ];
      const text = GATEWAY + pool("one", "one", [a], "first") + pool("two", "two", [b], "second") +
        poolWorkload("one") + poolWorkload("two") + pickerEntry("first", first.port) +
        pickerEntry("second", second.port) + backendService("c", c) + httpRoute("web", [at("/", ...refs)]);
      await withFolder(binary!, text, EDGE, async ({ socket }) => {
        const counts = new Map<string, number>();
        for (let count = 0; count < 80; count++) {
          const { status, headers, seen } = await ask({ socket: socket(80) }, { path: "/" });
          const key = `${seen?.backend ?? status} ${headers[ANSWERED] ?? "-"}`;
          counts.set(key, (counts.get(key) ?? 0) + 1);
        }
        const expected = [`500 -`, `a 127.0.0.1:${a}`, `b 127.0.0.1:${b}`, "c -"];
        assert.deepEqual([...counts.keys()].sort(), expected);
        for (const [key, count] of counts) assert.ok(count >= 5 && count <= 40, `${key}: ${count}`);
      }, WITH_POOLS);
    }),
});

/** A token with a claim, and the keys that verify the token. */
async function tokenWith(claims: object): Promise<{ readonly token: string; readonly jwks: string }> {
  const curve = { name: "ECDSA", namedCurve: "P-256" } as const;
  const { privateKey, publicKey } = await crypto.subtle.generateKey(curve, true, ["sign", "verify"]);
  const part = (content: object) =>
    new TextEncoder().encode(JSON.stringify(content)).toBase64({ alphabet: "base64url", omitPadding: true });
  const text = `${part({ alg: "ES256", kid: "k" })}.${part({ iss: "tests", exp: 4_000_000_000, ...claims })}`;
  const bytes = await crypto.subtle.sign(
    { name: "ECDSA", hash: "SHA-256" },
    privateKey,
    new TextEncoder().encode(text),
  );
  const signature = new Uint8Array(bytes).toBase64({ alphabet: "base64url", omitPadding: true });
  const key = await crypto.subtle.exportKey("jwk", publicKey);
  return { token: `${text}.${signature}`, jwks: JSON.stringify({ keys: [{ ...key, kid: "k", alg: "ES256" }] }) };
}

Deno.test({
  name: "a request that comes to a pool by a claim of its token is picked too: no client chooses its endpoint",
  ignore,
  fn: () =>
    withBackends({ a: {}, b: {}, c: {} }, async (ports) => {
      const [a, b, c] = ["a", "b", "c"].map((name) => ports[name]!) as [number, number, number];
      await using picker = await runPicker(() => [a, b].map((port) => `127.0.0.1:${port}`));
      const { token, jwks } = await tokenWith({ plan: "models" });
      const byClaim = (name: string) => ({
        matches: [{ path: { type: "PathPrefix", value: `/${name}` }, headers: [{ name: "x-plan", value: "models" }] }],
        backendRefs: [toPool(name)],
      });
      const text = GATEWAY + pool("models", "models", [a, b], "picker") + pool("closed", "models", [a, b], "away") +
        poolWorkload("models") + pickerEntry("picker", picker.port) + pickerEntry("away") + backendService("c", c) +
        httpRoute("web", [byClaim("models"), byClaim("closed"), ruleTo("c")]) +
        document({
          ...{ apiVersion: "security.mesh.io/v1", kind: "RequestAuthentication" },
          metadata: { name: "tokens", namespace: "shop" },
          spec: {
            targetRefs: [{ group: "gateway.networking.k8s.io", kind: "Gateway", name: "edge" }],
            jwtRules: [{ issuer: "tests", jwks, outputClaimToHeaders: [{ header: "x-plan", claim: "plan" }] }],
          },
        });
      await withFolder(binary!, text, EDGE, async ({ socket }) => {
        const got = async (path: string, wanted: number, chosen: number, more: Record<string, string>) => {
          const headers = { [WANTED]: `127.0.0.1:${wanted}`, [PICKED]: `127.0.0.1:${chosen}`, ...more };
          const { status, seen } = await ask({ socket: socket(80) }, { path, headers });
          return seen?.backend ?? status;
        };
        const authorization = `Bearer ${token}`;
        assert.equal(await got("/models", a, b, {}), "c", "without the token");
        for (const [wanted, chosen, name] of [[a, b, "a"], [b, a, "b"]] as const) {
          assert.equal(await got("/models", wanted, chosen, { authorization }), name);
          assert.equal(await got("/closed", wanted, chosen, { authorization }), 500, "the picker is away");
        }
      }, WITH_POOLS);
    }),
});
