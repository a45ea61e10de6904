/**
 * CUSTOM policies: an external authorizer decides about matching requests, or they are refused if the authorizer cannot
 * be asked.
 */
import assert from "node:assert/strict";
import { openssl } from "../certificates.ts";
import { grpcAuthorizer, httpAuthorizer } from "./support/authorizers.ts";
import { type Asked, type Guarded, type PolicyDocument, withGuarded } from "./support/guarded.ts";
import { envoyPath } from "./support/mesh.ts";
import { until } from "../patience.ts";

const ignore = envoyPath() === undefined || !openssl;

/** The services of the authorizers. Nothing answers at port 1 of this machine. */
function services(spare: number, http: number, grpc: number): string {
  const entry = (name: string, protocol: string, port: number, at: number) => `
apiVersion: networking.mesh.io/v1
kind: ServiceEntry
metadata: { name: ${name}, namespace: demo }
spec:
  hosts: [${name}.test]
  addresses: [10.250.0.${at}]
  location: MESH_EXTERNAL
  resolution: STATIC
  ports: [{ number: ${spare}, protocol: ${protocol}, name: p, targetPort: ${port} }]
  endpoints: [{ address: 127.0.0.1 }]
`;
  const all = [entry("http", "HTTP", http, 1), entry("grpc", "GRPC", grpc, 2), entry("gone", "HTTP", 1, 3)];
  return [...all, entry("gone-grpc", "GRPC", 1, 4)].join("---");
}

function providers(port: number): object[] {
  const http = (name: string, service: string, more: object = {}) => ({
    name,
    envoyExtAuthzHttp: { service, port, includeRequestHeadersInCheck: ["x-token"], timeout: "2s", ...more },
  });
  return [
    http("http", "http.test", {
      pathPrefix: "/check",
      headersToDownstreamOnDeny: ["x-why"],
      includeAdditionalHeadersInCheck: { "x-key": "50%" },
    }),
    http("neutral", "demo/http.test"),
    { name: "grpc", envoyExtAuthzGrpc: { service: "grpc.test", port, timeout: "2s" } },
    http("gone", "gone.test"),
    http("gone-503", "gone.test", { statusOnError: "503" }),
    http("gone-open", "gone.test", { failOpen: true }),
    { name: "gone-grpc", envoyExtAuthzGrpc: { service: "gone-grpc.test", port, timeout: "2s" } },
    { name: "gone-grpc-open", envoyExtAuthzGrpc: { service: "gone-grpc.test", port, timeout: "2s", failOpen: true } },
    { name: "nowhere", envoyExtAuthzGrpc: { service: "nowhere.test", port } },
    { name: "tracer", zipkin: { service: "http.test", port } },
  ];
}

const custom = (provider: string, ...rules: object[]): PolicyDocument => ({
  name: provider,
  spec: { action: "CUSTOM", provider: { name: provider }, rules },
});
const at = (path: string) => ({ to: [{ operation: { paths: [path] } }] });
const good = { "x-token": "good" };

/** Checks the results for `/x`, for `/x` with a good token, and for a path without a matching rule. */
async function checkProvider(
  { check }: Guarded,
  provider: string,
  refused: number,
  admitted: number,
): Promise<void> {
  await check({
    name: provider,
    policies: [custom(provider, at("/x"))],
    asked: [[{ path: "/x" }, refused], [{ path: "/x", headers: good }, admitted], [{ path: "/y" }, 200]],
  });
}

Deno.test({
  name: "an authorizer decides about what the rules match, and nothing else; one that cannot be asked refuses",
  ignore,
  fn: async () => {
    await using http = httpAuthorizer();
    await using grpc = await grpcAuthorizer("good");
    let port = 0;
    await withGuarded(
      {
        files: (spare) => ({ "services.yaml": services(port = spare, http.port, grpc.port) }),
        meshConfig: (spare) => ({ extensionProviders: providers(spare) }),
      },
      async (guarded) => {
        assert.notEqual(port, 0);
        await checkProvider(guarded, "http", 401, 200);
        assert.ok(http.asked.includes("GET /check/x"), http.asked.join());
        assert.ok(!http.asked.some((one) => one.endsWith("/y")), http.asked.join());
        assert.ok(http.keys?.has("50%"), "a header that is added is sent as it is written");
        await checkProvider(guarded, "neutral", 401, 200);
        await checkProvider(guarded, "grpc", 403, 200);
        await checkProvider(guarded, "gone", 403, 403);
        await checkProvider(guarded, "gone-503", 503, 503);
        await checkProvider(guarded, "gone-open", 200, 200);
        await checkProvider(guarded, "gone-grpc", 403, 403);
        await checkProvider(guarded, "gone-grpc-open", 200, 200);
        for (const unusable of ["nowhere", "tracer", "nobody"]) await checkProvider(guarded, unusable, 403, 403);
        const { check, mesh } = guarded;
        await until(
          "the reason is on the page of warnings",
          async () =>
            /provider \\"nobody\\" is not among the extensionProviders/.test(
              JSON.stringify(await mesh.page<unknown>("warningz")),
            ),
        );
        await check({
          name: "two authorizers at once: both must admit, and one that cannot be asked leaves the other alone",
          policies: [custom("http", at("/x")), custom("grpc", at("/y"), at("/x")), custom("nobody", at("/z"))],
          asked: [
            // The authorizer of the older policy is asked first. At equal age, the name decides.
            [{ path: "/x" }, 403],
            [{ path: "/x", headers: good }, 200],
            [{ path: "/y" }, 403],
            [{ path: "/y", headers: good }, 200],
            [{ path: "/z", headers: good }, 403],
            [{ path: "/other" }, 200],
          ],
        });
        await check({
          name: "what the authorizer admits may still be denied",
          policies: [custom("http", {}), { name: "deny", spec: { action: "DENY", rules: [at("/x")] } }],
          asked: [[{ path: "/x", headers: good }, 403], [{ path: "/y", headers: good }, 200], [{ path: "/y" }, 401]],
        });
      },
    );
  },
});

Deno.test({
  name: "connections that carry bytes are decided by an authorizer over gRPC; one over HTTP cannot be asked about them",
  ignore,
  fn: async () => {
    await using http = httpAuthorizer();
    await using grpc = await grpcAuthorizer("sa/friend");
    await withGuarded(
      {
        files: (spare) => ({ "services.yaml": services(spare, http.port, grpc.port) }),
        meshConfig: (spare) => ({ extensionProviders: providers(spare) }),
      },
      async ({ check, ports }) => {
        const bytes: Asked = { tcp: true };
        const guest: Asked = { tcp: true, by: "guest" };
        const rule = { to: [{ operation: { ports: [String(ports.tcp)] } }] };
        await check({
          name: "grpc",
          policies: [custom("grpc", rule)],
          asked: [[bytes, 200], [guest, "closed"], [{}, 200]],
        });
        for (const refusing of ["http", "gone-grpc", "nobody"]) {
          await check({
            name: refusing,
            policies: [custom(refusing, rule)],
            asked: [[bytes, "closed"], [guest, "closed"], [{}, 200]],
          });
        }
        await check({
          name: "failOpen",
          policies: [custom("gone-grpc-open", rule)],
          asked: [[bytes, 200], [guest, 200], [{}, 200]],
        });
      },
    );
  },
});
