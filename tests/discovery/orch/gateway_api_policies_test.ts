/** Status of BackendTLSPolicies and of references to other namespaces, written while the objects around them change. */
import assert from "node:assert/strict";
import { MemoryApi } from "./memory_api.ts";
import { withOrch } from "./with_orch.ts";

const GROUP = "gateway.networking.k8s.io";
const ROOTS = Deno.readTextFileSync(new URL("../../testdata/pem/root.pem", import.meta.url));
const GATEWAY = { name: "edge", kind: "Gateway", group: GROUP };

/** An API with the definitions, and Gateway `shop/edge`. */
function gatewayApi(): MemoryApi {
  const api = new MemoryApi();
  for (
    const [plural, kind] of [
      ["gateways", "Gateway"],
      ["httproutes", "HTTPRoute"],
      ["tcproutes", "TCPRoute"],
      ["udproutes", "UDPRoute"],
      ["referencegrants", "ReferenceGrant"],
      ["backendtlspolicies", "BackendTLSPolicy"],
    ] as const
  ) api.define(plural, GROUP, kind, ["v1"]);
  const listeners = [
    { name: "http", port: 80, protocol: "HTTP" },
    { name: "tcp", port: 9000, protocol: "TCP" },
    { name: "udp", port: 5300, protocol: "UDP" },
  ];
  put(api, "gateways", "edge", { gatewayClassName: "mesh", listeners });
  return api;
}

/** Makes or replaces an object of namespace shop. @param age Smaller is older. */
function put(api: MemoryApi, plural: string, name: string, spec: object, namespace = "shop", age = 0): void {
  const creationTimestamp = new Date(Date.UTC(2026, 0, 1, 0, 0, age)).toISOString();
  const metadata = { name, namespace, generation: 1, creationTimestamp };
  api.put(`/apis/${GROUP}/v1/${plural}`, { metadata, spec });
}

/** The service of a namespace, on one port. */
function putService(api: MemoryApi, name: string, protocol = "TCP", namespace = "shop"): void {
  const spec = { clusterIP: "10.0.0.9", ports: [{ name: "btls", port: 443, protocol }] };
  api.put("/api/v1/services", { metadata: { name, namespace }, spec });
}

function putAuthorities(api: MemoryApi, text: string): void {
  api.put("/api/v1/configmaps", { metadata: { name: "roots", namespace: "shop" }, data: { "ca.crt": text } });
}

interface Condition {
  readonly type: string;
  readonly status: string;
  readonly reason: string;
}

interface WrittenStatus {
  readonly ancestors?: readonly { readonly conditions: readonly Condition[] }[];
  readonly parents?: readonly { readonly conditions: readonly Condition[] }[];
  readonly listeners?: readonly { readonly name: string; readonly attachedRoutes: number }[];
}

function statusOf(api: MemoryApi, plural: string, name: string): WrittenStatus {
  return api.get(`/apis/${GROUP}/v1/${plural}`, name, "shop")?.["status"] as WrittenStatus | undefined ?? {};
}

/** The conditions of each entry: `Accepted True Accepted, ResolvedRefs True ResolvedRefs`. */
function entries(api: MemoryApi, plural: string, name: string): string[] {
  const { ancestors, parents } = statusOf(api, plural, name);
  return (ancestors ?? parents ?? []).map(({ conditions }) =>
    conditions.filter(({ type }) => type === "Accepted" || type === "ResolvedRefs")
      .map(({ type, status, reason }) => `${type} ${status} ${reason}`).sort().join(", ")
  );
}

const GOOD = "Accepted True Accepted, ResolvedRefs True ResolvedRefs";
const NO_AUTHORITY = "Accepted False NoValidCACertificate, ResolvedRefs False InvalidCACertificateRef";

Deno.test("the status of a BackendTLSPolicy follows its ConfigMap, its Gateways, its Service and other policies", async () => {
  const api = gatewayApi();
  const policy = (name: string, age: number, sectionName?: string) => {
    const targetRefs = [{ group: "", kind: "Service", name: "a", ...(sectionName && { sectionName }) }];
    const caCertificateRefs = [{ group: "", kind: "ConfigMap", name: "roots" }];
    const spec = { targetRefs, validation: { caCertificateRefs, hostname: "a.test" } };
    put(api, "backendtlspolicies", name, spec, "shop", age);
  };
  const becomes = async (name: string, ...expected: readonly string[]) => {
    await api.becomes(() => `${entries(api, "backendtlspolicies", name)}` === `${expected}`);
  };
  await withOrch(api, async () => {
    policy("new", 2);
    put(api, "httproutes", "web", { parentRefs: [GATEWAY], rules: [{ backendRefs: [{ name: "a", port: 443 }] }] });
    putService(api, "a");
    await becomes("new", NO_AUTHORITY);
    putAuthorities(api, ROOTS);
    await becomes("new", GOOD);
    putAuthorities(api, "");
    await becomes("new", NO_AUTHORITY);
    putAuthorities(api, ROOTS);
    await becomes("new", GOOD);
    policy("port", 1, "btls");
    await becomes("port", GOOD);
    await becomes("new", GOOD);
    policy("old", 1);
    await becomes("old", GOOD);
    await becomes("new", "Accepted False Conflicted, ResolvedRefs True ResolvedRefs");
    api.drop(`/apis/${GROUP}/v1/backendtlspolicies`, "old", "shop");
    await becomes("new", GOOD);
    api.drop(`/apis/${GROUP}/v1/httproutes`, "web", "shop");
    await becomes("new");
  }, { namespace: "mesh-system" });
});

Deno.test("the status of an XBackendTrafficPolicy follows its Service, its Gateways and other policies", async () => {
  const api = gatewayApi();
  const experimental = "gateway.networking.x-k8s.io";
  const path = `/apis/${experimental}/v1alpha1/xbackendtrafficpolicies`;
  api.define("xbackendtrafficpolicies", experimental, "XBackendTrafficPolicy", ["v1alpha1"]);
  const policy = (name: string, age: number) => {
    const creationTimestamp = new Date(Date.UTC(2026, 0, 1, 0, 0, age)).toISOString();
    const spec = { targetRefs: [{ group: "", kind: "Service", name: "a" }], retryConstraint: {} };
    api.put(path, { metadata: { name, namespace: "shop", generation: 1, creationTimestamp }, spec });
  };
  const becomes = async (name: string, ...expected: readonly string[]) => {
    await api.becomes(() => {
      const { ancestors = [] } = api.get(path, name, "shop")?.["status"] as WrittenStatus | undefined ?? {};
      const said = ancestors.flatMap(({ conditions }) => conditions.map(({ type, reason }) => `${type} ${reason}`));
      return `${said}` === `${expected}`;
    });
  };
  await withOrch(api, async () => {
    policy("new", 2);
    await becomes("new", "Accepted TargetNotFound");
    putService(api, "a");
    await becomes("new", "Accepted Accepted");
    put(api, "httproutes", "web", { parentRefs: [GATEWAY], rules: [{ backendRefs: [{ name: "a", port: 443 }] }] });
    await becomes("new", "Accepted Accepted", "Accepted Accepted");
    policy("old", 1);
    await becomes("new", "Accepted Conflicted", "Accepted Conflicted");
    api.drop(path, "old", "shop");
    await becomes("new", "Accepted Accepted", "Accepted Accepted");
  }, { namespace: "mesh-system", settings: { PILOT_ENABLE_ALPHA_GATEWAY_API: true } });
});

Deno.test("the status of an XBackend follows its routes and its authorities", async () => {
  const api = gatewayApi();
  const experimental = "gateway.networking.x-k8s.io";
  const path = `/apis/${experimental}/v1alpha1/xbackends`;
  api.define("xbackends", experimental, "XBackend", ["v1alpha1"]);
  const caCertificateRefs = [{ group: "", kind: "ConfigMap", name: "roots" }];
  const backend = (hostname: string) =>
    api.put(path, {
      metadata: { name: "out", namespace: "shop", generation: 1 },
      spec: {
        ...{ type: "ExternalHostname", port: { port: 443 }, externalHostname: { hostname } },
        tls: { mode: "ServerOnly", validation: { hostname: "a.test", caCertificateRefs } },
      },
    });
  const becomes = async (...expected: readonly string[]) => {
    await api.becomes(() => {
      const { parents = [] } = api.get(path, "out", "shop")?.["status"] as WrittenStatus | undefined ?? {};
      const said = parents.flatMap(({ conditions }) => conditions.map(({ type, reason }) => `${type} ${reason}`));
      return `${said}` === `${expected}`;
    });
  };
  await withOrch(api, async () => {
    backend("a.test");
    const to = [{ group: experimental, kind: "XBackend", name: "out" }];
    put(api, "httproutes", "web", { parentRefs: [GATEWAY], rules: [{ backendRefs: to }] });
    await becomes("Accepted NoValidCACertificate", "ResolvedRefs InvalidCACertificateRef");
    putAuthorities(api, ROOTS);
    await becomes("Accepted Accepted", "ResolvedRefs ResolvedRefs");
    backend("192.0.2.7");
    await becomes("Accepted Invalid");
    backend("a.test");
    await becomes("Accepted Accepted", "ResolvedRefs ResolvedRefs");
    api.drop(`/apis/${GROUP}/v1/httproutes`, "web", "shop");
    await becomes();
  }, { namespace: "mesh-system", settings: { PILOT_ENABLE_ALPHA_GATEWAY_API: true } });
});

for (const [kind, protocol] of [["tcp", "TCP"], ["udp", "UDP"]] as const) {
  Deno.test(`two routes at a ${protocol} listener are attached, and a grant that goes is missed at once`, async () => {
    const api = gatewayApi();
    const plural = `${kind}routes`;
    const to = (namespace: string) => ({
      parentRefs: [{ ...GATEWAY, sectionName: kind }],
      rules: [{ backendRefs: [{ name: "a", namespace, port: 443 }] }],
    });
    await withOrch(api, async () => {
      putService(api, "a", protocol);
      putService(api, "a", protocol, "pay");
      put(api, "referencegrants", "shop", {
        from: [{ group: GROUP, kind: `${protocol}Route`, namespace: "shop" }],
        to: [{ group: "", kind: "Service", name: "a" }],
      }, "pay");
      put(api, plural, "old", to("pay"));
      put(api, plural, "new", to("shop"), "shop", 1);
      await api.becomes(() =>
        `${[...entries(api, plural, "old"), ...entries(api, plural, "new")]}` === `${[GOOD, GOOD]}`
      );
      const count = () =>
        statusOf(api, "gateways", "edge").listeners?.find(({ name }) => name === kind)?.attachedRoutes;
      await api.becomes(() => count() === 2);
      api.drop(`/apis/${GROUP}/v1/referencegrants`, "shop", "pay");
      await api.becomes(() =>
        `${entries(api, plural, "old")}` === "Accepted True Accepted, ResolvedRefs False RefNotPermitted"
      );
      assert.deepEqual(entries(api, plural, "new"), [GOOD]);
    }, { namespace: "mesh-system" });
  });
}
