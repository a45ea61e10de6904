/** `/debug/authorizationz` and `/debug/pushcontext`, in the forms of Istio's pages. */
import assert from "node:assert/strict";
import { page, withServer } from "../discovery/running.ts";
import { TestProxy } from "./proxy.ts";

const policy = (name: string, namespace: string, app?: string) =>
  `apiVersion: security.mesh.io/v1
kind: AuthorizationPolicy
metadata: { name: ${name}, namespace: ${namespace}, annotations: { owner: ${name}-team } }
spec:
${app === undefined ? "" : `  selector: { matchLabels: { app: ${app} } }\n`}  action: DENY
  rules: [{ to: [{ operation: { paths: ["/${name}"] } }] }]
`;

const files = {
  "all.yaml": policy("all", "mesh-system"),
  "x.yaml": policy("x", "x"),
  "y.yaml": policy("y", "y"),
  "other.yaml": policy("other", "x", "other"),
};

interface Policies {
  readonly authorization_policies: {
    readonly root_namespace: string;
    readonly namespace_to_policies: Readonly<Record<string, readonly { readonly name: string }[]>>;
  };
}

/** Names of policies by namespace. */
function named({ authorization_policies: { namespace_to_policies } }: Policies): Record<string, string[]> {
  return Object.fromEntries(
    Object.entries(namespace_to_policies).map(([namespace, list]) => [namespace, list.map(({ name }) => name).sort()]),
  );
}

Deno.test("policies are listed by namespace with their texts; for a proxy, only the policies that apply to it", async () => {
  await withServer(files, async ({ ports, pipeline }, folder) => {
    using _proxy = await TestProxy.attach(ports.grpc);
    const ask = async (query = ""): Promise<Policies> =>
      JSON.parse((await page(ports.http, `/debug/authorizationz${query}`)).body);
    const all = await ask();
    assert.equal(all.authorization_policies.root_namespace, "mesh-system");
    assert.deepEqual(named(all), { "mesh-system": ["all"], x: ["other", "x"], y: ["y"] });
    const [one] = all.authorization_policies.namespace_to_policies["y"]!;
    assert.deepEqual(one, {
      ...{ name: "y", namespace: "y", annotations: { owner: "y-team" } },
      spec: { action: "DENY", rules: [{ to: [{ operation: { paths: ["/y"] } }] }] },
    });
    assert.deepEqual(named(await ask("?proxyID=a.x")), { "mesh-system": ["all"], x: ["x"] });
    assert.equal((await page(ports.http, "/debug/authorizationz?proxyID=nobody")).status, 404);

    const pushed = Promise.withResolvers<void>();
    pipeline.onPush(() => pushed.resolve());
    await Deno.remove(`${folder}/x.yaml`);
    await pushed.promise;
    assert.deepEqual(named(await ask("?proxyID=a.x")), { "mesh-system": ["all"] });
    assert.deepEqual(named(await ask()).x, ["other"]);
  });
});

const networks = `networks:
  east:
    endpoints: [{ fromRegistry: other }]
    gateways:
      - { address: 192.0.2.1, port: 15443 }
      - { address: gateway.east.invalid, port: 15443 }
`;

Deno.test("pushcontext has the policies by namespace, and the gateways of networks by address and by name", async () => {
  const folder = await Deno.makeTempDir();
  try {
    await Deno.writeTextFile(`${folder}/networks`, networks);
    await withServer(files, async ({ ports }) => {
      const { AuthorizationPolicies, ...rest } = JSON.parse((await page(ports.http, "/debug/pushcontext")).body);
      assert.deepEqual(Object.keys(AuthorizationPolicies.namespace_to_policies), ["mesh-system", "x", "y"]);
      const way = (Addr: string) => ({ Network: "east", Cluster: "", Addr, Port: 15443 });
      assert.deepEqual(rest, {
        NetworkGateways: [way("192.0.2.1")],
        UnresolvedGateways: [way("192.0.2.1"), way("gateway.east.invalid")],
      });
    }, { options: { networksConfig: `${folder}/networks` }, settings: { RESOLVE_HOSTNAME_GATEWAYS: false } });
    await withServer({}, async ({ ports }) => {
      assert.deepEqual(JSON.parse((await page(ports.http, "/debug/pushcontext")).body), {
        AuthorizationPolicies: { namespace_to_policies: {}, root_namespace: "mesh-system" },
        ...{ NetworkGateways: [], UnresolvedGateways: [] },
      });
    });
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});
