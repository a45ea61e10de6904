/** Findings about patches, fields, policies and pods agree with the resources of proxies and the treatment of pods. */
import assert from "node:assert/strict";
import { unpaced } from "../../lib/kernel/time/paced.ts";
import { checkMesh } from "../../lib/offline/check/check.ts";
import { readable } from "../../lib/pb/reflect.ts";
import { resources } from "../discovery/fixture.ts";
import { inject, injected } from "../injection/support.ts";
import { meshOf } from "../offline/mesh_of.ts";
import { asked, claimed, endOf, exampleOf, proxyAt, workload } from "./support/claims.ts";
import { changedBy, proofWorld, type WrittenDocument } from "./support/proof_world.ts";

const CLIENT = workload("shop", "client", { app: "client" }, "10.9.0.9");

/** A service with a single workload and a single port. */
function served(protocol: string, more: object = {}): WrittenDocument {
  return {
    apiVersion: "networking.mesh.io/v1",
    kind: "ServiceEntry",
    metadata: { namespace: "shop", name: "cart" },
    spec: {
      ...{ hosts: ["cart.test"], location: "MESH_INTERNAL", resolution: "STATIC", ...more },
      ports: [{ number: 80, name: "port", protocol }],
      endpoints: [{ address: "10.9.0.1", labels: { app: "cart" } }],
    },
  };
}

function policy(kind: string, spec: object): WrittenDocument {
  return { apiVersion: "security.mesh.io/v1", kind, metadata: { namespace: "shop", name: "cart" }, spec };
}

const INBOUND = { direction: "inbound", destination: { ip: "10.9.0.1", port: 80 } } as const;

/** A proxy's messages as text, with packed messages unpacked. */
function textsOf(documents: readonly WrittenDocument[], address: string, prefix: string, type: string): string {
  return Object.entries(resources(proxyAt(proofWorld(documents), address)))
    .filter(([name]) => name.startsWith(prefix))
    .map(([, { value }]) => JSON.stringify(readable(type, value))).join("\n");
}

const LISTENER = "envoy.config.listener.v3.Listener";

Deno.test("deprecated-field: it acts as before, like the field that replaces it", () => {
  const world = claimed("deprecated-field", CLIENT);
  const delayOf = (documents: readonly WrittenDocument[]) =>
    /"percentage":\{[^}]*\}/.exec(
      textsOf(documents, "10.9.0.9", "virtualHost/", "envoy.config.route.v3.VirtualHost"),
    )?.[0];
  assert.match(delayOf(world.documents) ?? "", /"numerator":10[,}]/);
  const mended = world.documents.map((one) =>
    JSON.parse(JSON.stringify(one).replace('"percent":10', '"percentage":{"value":10}')) as WrittenDocument
  );
  // The other field knows fractions of a percent, written in millionths.
  assert.match(delayOf(mended) ?? "", /"numerator":100000[,}].*"MILLION"|"numerator":10[,}]/);
});

Deno.test("unusable-telemetry-provider: nothing is measured by it, and without the logs and traces that it is to get all proxies get the same", () => {
  const world = claimed("unusable-telemetry-provider", CLIENT, served("HTTP"));
  for (const [list, count] of [["accessLogging", 1], ["tracing", 1], ["metrics", 1]] as const) {
    const found = world.findings.filter(({ name, place }) =>
      name === "unusable-telemetry-provider" && place.field.startsWith(`spec.${list}`)
    );
    assert.equal(found.length, count, list);
  }
  const rest = world.documents.map((one) =>
    one["kind"] === "Telemetry" ? { ...one, spec: { metrics: (one["spec"] as { metrics: unknown }).metrics } } : one
  );
  assert.deepEqual(changedBy(world, rest), []);
  assert.doesNotMatch(textsOf(world.documents, "10.9.0.1", "listener/", LISTENER), /access_loggers\.stats/);
});

Deno.test("unusable-authorizer: requests that the rules match are refused, all others are not", () => {
  const world = proofWorld([
    served("HTTP"),
    policy("AuthorizationPolicy", {
      selector: { matchLabels: { app: "cart" } },
      action: "CUSTOM",
      provider: { name: "no-such" },
      rules: [{ to: [{ operation: { paths: ["/asked"] } }] }],
    }),
  ]);
  assert.ok(world.findings.some(({ name }) => name === "unusable-authorizer"));
  const text = textsOf(world.documents, "10.9.0.1", "listener/virtualInbound", LISTENER);
  assert.match(text, /"action":"DENY"[^]*"\/asked"/);
  assert.doesNotMatch(text, /ext_authz\.v3\.ExtAuthz/);
});

Deno.test("http-rule-for-bytes: on a port that carries bytes an ALLOW rule with a path never matches, a DENY rule denies without regard to the path", () => {
  const rule = (action: string, path: boolean) =>
    policy("AuthorizationPolicy", {
      selector: { matchLabels: { app: "cart" } },
      action,
      rules: [{ to: [{ operation: { ports: ["80"], ...(path ? { paths: ["/a"] } : {}) } }] }],
    });
  /** Rules of filters for connections. */
  const rulesOf = (...documents: WrittenDocument[]) => {
    const text = textsOf(documents, "10.9.0.1", "listener/virtualInbound", LISTENER);
    return new Set(
      [...text.matchAll(/filters\.network\.rbac\.v3\.RBAC".*?"permissions":(\[.*?\]),"principals"/g)].map(([, found]) =>
        found
      ),
    );
  };
  for (const action of ["ALLOW", "DENY"]) {
    const world = proofWorld([served("TCP"), rule(action, true)]);
    assert.ok(world.findings.some(({ name }) => name === "http-rule-for-bytes"));
  }
  assert.deepEqual(rulesOf(served("TCP"), rule("ALLOW", true)), new Set(['[{"not_rule":{"any":true}}]']));
  assert.deepEqual(rulesOf(served("TCP"), rule("DENY", true)), new Set(['[{"destination_port":80}]']));
});

Deno.test("pod-without-proxy: a peer that requires mutual TLS refuses what comes without a proxy", () => {
  const of = (mode: string) =>
    proxyAt(proofWorld([served("HTTP"), policy("PeerAuthentication", { mtls: { mode } })]), "10.9.0.1");
  const plain = { ...INBOUND, protocol: "http", host: "cart.test", path: "/" } as const;
  assert.notEqual(endOf(of("PERMISSIVE"), plain), "closed");
  assert.equal(asked(of("STRICT"), plain).outcome.kind, "closed");
});

Deno.test("unresolved-reference: the rule whose delegate is not visible is in no route", () => {
  const rule = (name: string, namespace: string, spec: object): WrittenDocument => ({
    ...{ apiVersion: "networking.mesh.io/v1", kind: "VirtualService", metadata: { namespace, name }, spec },
  });
  const world = proofWorld([
    CLIENT,
    served("HTTP"),
    rule("parent", "shop", {
      hosts: ["cart.test"],
      http: [
        { match: [{ uri: { prefix: "/far" } }], delegate: { name: "child", namespace: "far" } },
        { route: [{ destination: { host: "cart.test" } }] },
      ],
    }),
    rule("child", "far", { exportTo: ["."], http: [{ redirect: { uri: "/delegated" } }] }),
  ]);
  assert.ok(world.findings.some(({ name }) => name === "unresolved-reference" || name === "unknown-delegate"));
  assert.doesNotMatch(
    textsOf(world.documents, "10.9.0.9", "virtualHost/", "envoy.config.route.v3.VirtualHost"),
    /delegated|"\/far"/,
  );
});

Deno.test("filter-behind-terminal: the filter is behind the router, where Envoy accepts no filter", () => {
  const world = claimed("filter-behind-terminal", CLIENT, served("HTTP"));
  const text = textsOf(world.documents, "10.9.0.1", "listener/virtualInbound", LISTENER);
  assert.match(text, /envoy\.filters\.http\.router"[^]*?"name":"stats"/);
});

/** A pod of an example of the reference. */
function podOf(documents: readonly WrittenDocument[]): object {
  const { spec } = documents.find(({ kind }) => kind === "Deployment") as {
    spec: { template: { metadata: object; spec: object } };
  };
  return { metadata: { name: "p", ...spec.template.metadata }, spec: spec.template.spec };
}

Deno.test("wrong-annotation: the injector refuses the pod", () => {
  const result = inject({ pod: podOf(exampleOf("wrong-annotation")) });
  assert.equal(result.kind, "refused");
  assert.match(JSON.stringify(result), /concurrency/);
});

Deno.test("alpha-annotation: it is in force in this version", () => {
  const pod = injected({ pod: podOf(exampleOf("alpha-annotation")) });
  assert.match(JSON.stringify(pod.spec), /--proxyLogLevel=debug/);
});

Deno.test("deprecated-annotation: it is in force in this version", () => {
  const config = { policy: "disabled" };
  assert.equal(
    inject({ config, pod: { metadata: { name: "p" }, spec: { containers: [{ name: "app", image: "cart" }] } } }).kind,
    "skipped",
  );
  assert.equal(inject({ config, pod: podOf(exampleOf("deprecated-annotation")) }).kind, "injected");
});

Deno.test("image-auto-without-injection, image-auto-in-pod: injection alone fills the image in", () => {
  const pod = (label: string) => ({
    metadata: { name: "p", labels: { "sidecar.mesh.io/inject": label } },
    spec: { containers: [{ name: "mesh-proxy", image: "auto" }] },
  });
  assert.equal(inject({ pod: pod("false") }).kind, "skipped");
  assert.notEqual(
    injected({ pod: pod("true") }).spec.containers.find(({ name }) => name === "mesh-proxy")?.image,
    "auto",
  );
});

Deno.test("too-many: what is not shown shows up when what is shown was corrected", () => {
  const cart = served("HTTP");
  const entry = (wrong: number) => {
    const endpoints = Array.from({ length: wrong }, (_, at) => ({ address: "10.9.0.1", weight: `wrong-${at}` }));
    return JSON.stringify({ ...cart, spec: { ...cart["spec"] as object, endpoints } });
  };
  const found = (wrong: number) =>
    unpaced(checkMesh(meshOf({ "a.yaml": entry(wrong) }), { assumeServices: false, textOf: () => undefined })).findings;
  const many = found(150);
  const shown = many.filter(({ name }) => name === "wrong-value").length;
  assert.ok(many.some(({ name }) => name === "too-many") && shown < 150);
  const rest = found(150 - shown);
  assert.equal(rest.filter(({ name }) => name === "wrong-value").length, 150 - shown);
  assert.equal(rest.some(({ name }) => name === "too-many"), false);
});

Deno.test("policy-port-of-service: connections arrive at the workload's port, of which the policies say nothing", () => {
  const world = claimed("policy-port-of-service");
  const ports = (documents: readonly WrittenDocument[]) => {
    const { filter_chains: chains } = JSON.parse(
      textsOf(documents, "10.0.0.1", "listener/virtualInbound", LISTENER),
    ) as { filter_chains: { filter_chain_match?: object; transport_socket?: object }[] };
    return chains.filter(({ filter_chain_match: match }) =>
      /"destination_port":(?:\{"value":)?8080\b/.test(JSON.stringify(match ?? {}))
    );
  };
  assert.ok(ports(world.documents).length > 0);
  assert.ok(
    ports(world.documents).some(({ transport_socket }) => transport_socket === undefined),
    "plain text is taken",
  );
  assert.deepEqual(
    ports(world.documents),
    ports(world.documents.filter(({ kind }) => kind !== "AuthorizationPolicy")).map((chain, at) => ({
      ...chain,
      filters: (ports(world.documents)[at] as { filters?: unknown }).filters,
    })),
  );
  const mended = world.documents.map((one) =>
    JSON.parse(JSON.stringify(one).replace('"80":{"mode"', '"8080":{"mode"')) as WrittenDocument
  );
  assert.ok(!ports(mended).some(({ transport_socket }) => transport_socket === undefined), "it is refused");
});

Deno.test("unusable-address: the service has every other endpoint, and no endpoint with this address", () => {
  const world = claimed("unusable-address", CLIENT, workload("shop", "other", { app: "cart" }, "10.9.0.2"));
  const text = textsOf(world.documents, "10.9.0.9", "assignment/", "envoy.config.endpoint.v3.ClusterLoadAssignment");
  assert.match(text, /10\.9\.0\.2/);
  assert.doesNotMatch(text, /cart-1/);
});
