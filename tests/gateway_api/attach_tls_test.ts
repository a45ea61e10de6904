import assert from "node:assert/strict";
import { AttachWorld, listenerLines, word } from "./attach_world.ts";
import { gateway, GOOD_TLS, GRANT, SECRETS } from "./listener_manifests.ts";

/** Certificates of one listener: the reference, a grant, and the expected condition. */
const CERTIFICATES: Readonly<Record<string, { refs: string; grant?: string; expected: string }>> = {
  "a Secret of the Gateway's namespace": { refs: "{name: good}", expected: "ResolvedRefs" },
  "a Secret that does not exist": { refs: "{name: gone}", expected: "not InvalidCertificateRef" },
  "another kind": { refs: "{name: good, kind: ConfigMap}", expected: "not InvalidCertificateRef" },
  "another group": { refs: "{name: good, group: example.com}", expected: "not InvalidCertificateRef" },
  "a malformed Secret": { refs: "{name: malformed}", expected: "not InvalidCertificateRef" },
  "no reference": { refs: "", expected: "not InvalidCertificateRef" },
  "three references": {
    refs: "{name: good}, {name: good}, {name: good}",
    expected: "not InvalidCertificateRef",
  },
  "another namespace without a grant": { refs: "{name: far, namespace: vault}", expected: "not RefNotPermitted" },
  "a missing Secret of another namespace: the status does not tell": {
    refs: "{name: gone, namespace: vault}",
    expected: "not RefNotPermitted",
  },
  "a grant for the Secret": {
    refs: "{name: far, namespace: vault}",
    grant: "{group: '', kind: Secret, name: far}",
    expected: "ResolvedRefs",
  },
  "a grant for all Secrets": {
    refs: "{name: far, namespace: vault}",
    grant: "{group: '', kind: Secret}",
    expected: "ResolvedRefs",
  },
  "a grant for another Secret": {
    refs: "{name: far, namespace: vault}",
    grant: "{group: '', kind: Secret, name: other}",
    expected: "not RefNotPermitted",
  },
  "a grant for another kind": {
    refs: "{name: far, namespace: vault}",
    grant: "{group: '', kind: Service}",
    expected: "not RefNotPermitted",
  },
};

for (const [name, { refs, grant, expected }] of Object.entries(CERTIFICATES)) {
  Deno.test(`certificate of a listener: ${name}`, () => {
    const from = "from: [{group: gateway.networking.k8s.io, kind: Gateway, namespace: infra}]";
    const world = new AttachWorld(
      SECRETS + gateway(`{name: https, port: 443, protocol: HTTPS, tls: {certificateRefs: [${refs}]}}`) +
        (grant === undefined ? "" : `${GRANT}spec: {${from}, to: [${grant}]}\n`),
    );
    const [listener] = world.view("gw").listeners;
    assert.equal(word(listener!.resolvedRefs), expected);
    assert.equal(word(listener!.accepted), "Accepted", "a bad certificate does not stop routes from attaching");
    const isGood = expected === "ResolvedRefs";
    assert.deepEqual([word(listener!.programmed), listener!.serves], [isGood ? "Programmed" : "not Invalid", isGood]);
    assert.equal(listener!.tls?.certificates.length, isGood ? 1 : 0);
  });
}

Deno.test("a grant from another kind, namespace or group permits nothing", () => {
  for (
    const from of [
      "{group: gateway.networking.k8s.io, kind: HTTPRoute, namespace: infra}",
      "{group: gateway.networking.k8s.io, kind: Gateway, namespace: other}",
      "{group: '', kind: Gateway, namespace: infra}",
    ]
  ) {
    const world = new AttachWorld(
      SECRETS +
        gateway("{name: a, port: 443, protocol: HTTPS, tls: {certificateRefs: [{name: far, namespace: vault}]}}") +
        `${GRANT}spec: {from: [${from}], to: [{group: '', kind: Secret}]}\n`,
    );
    assert.equal(word(world.view("gw").listeners[0]!.resolvedRefs), "not RefNotPermitted", from);
  }
});

Deno.test("one usable certificate of two is served, and the other is reported", () => {
  const [listener] = new AttachWorld(
    SECRETS + gateway("{name: a, port: 443, protocol: HTTPS, tls: {certificateRefs: [{name: gone}, {name: good}]}}"),
  ).view("gw").listeners;
  assert.deepEqual(listener!.tls?.certificates, [{ namespace: "infra", name: "good" }]);
  assert.equal(word(listener!.resolvedRefs), "not InvalidCertificateRef");
  assert.ok(listener!.serves);
});

const FRONTEND = `, tls: {frontend: {
  default: {validation: {caCertificateRefs: [{group: '', kind: ConfigMap, name: authorities}]}},
  perPort: [
    {port: 1, tls: {validation: {caCertificateRefs: [{group: '', kind: ConfigMap, name: gone}]}}},
    {port: 2, tls: {validation: {caCertificateRefs: [{group: '', kind: Service, name: authorities}]}}},
    {port: 3, tls: {validation: {caCertificateRefs: [{group: '', kind: ConfigMap, name: far, namespace: vault}]}}},
    {port: 4, tls: {validation: {caCertificateRefs: [{group: '', kind: ConfigMap, name: empty}]}}},
    {port: 5, tls: {validation: {mode: AllowInsecureFallback, caCertificateRefs: [
      {group: '', kind: ConfigMap, name: authorities}]}}},
    {port: 6, tls: {validation: {caCertificateRefs: [
      {group: '', kind: ConfigMap, name: gone}, {group: '', kind: ConfigMap, name: authorities}]}}}]}}`;

Deno.test("clients are verified as tls.frontend says for the port", () => {
  const ports = [443, 1, 2, 3, 4, 5, 6];
  const listeners = ports.map((port) => `{name: p${port}, port: ${port}, protocol: HTTPS, ${GOOD_TLS}}`);
  const view = new AttachWorld(
    SECRETS + gateway([...listeners, "{name: http, port: 80, protocol: HTTP}"].join(", "), FRONTEND),
  ).view("gw");
  assert.deepEqual(listenerLines(view.listeners), {
    p443: "Accepted, Programmed, ResolvedRefs",
    p1: "not NoValidCACertificate, not Invalid, not InvalidCACertificateRef",
    p2: "not NoValidCACertificate, not Invalid, not InvalidCACertificateKind",
    p3: "not NoValidCACertificate, not Invalid, not RefNotPermitted",
    p4: "not NoValidCACertificate, not Invalid, not InvalidCACertificateRef",
    p5: "Accepted, Programmed, ResolvedRefs",
    p6: "Accepted, Programmed, not InvalidCACertificateRef",
    http: "Accepted, Programmed, ResolvedRefs",
  });
  assert.deepEqual(view.listeners.map(({ tls }) => tls?.clients), [
    ...["required", "required", "required", "required", "required", "unverified", "required"],
    undefined,
  ]);
  assert.equal(view.insecureFrontend && word(view.insecureFrontend), "ConfigurationChanged");
});

Deno.test("options of a listener choose how clients and certificates work, in both spellings", () => {
  const option = (domain: string, value: string) =>
    `tls: {certificateRefs: [{name: good}], options: {gateway.${domain}/tls-terminate-mode: ${value}}}`;
  const secret = `apiVersion: v1\nkind: Secret\nmetadata: {name: good-cacert}\ndata: {ca.crt: $AUTHORITY}\n---\n`;
  const view = new AttachWorld(
    SECRETS + secret + gateway(
      [
        ["istio.io", "MUTUAL"],
        ["mesh.io", "OPTIONAL_MUTUAL"],
        ["istio.io", "ISTIO_MUTUAL"],
        ["mesh.io", "MESH_SIMPLE"],
        ["mesh.io", "SIMPLE"],
      ].map(([domain, value], at) => `{name: l${at}, port: ${at + 1}, protocol: HTTPS, ${option(domain!, value!)}}`)
        .join(", "),
    ),
  ).view("gw");
  assert.deepEqual(view.listeners.map(({ tls }) => `${tls?.certificateFrom} ${tls?.clients}`), [
    "secrets required",
    "secrets optional",
    "mesh required",
    "mesh none",
    "secrets none",
  ]);
  const without = new AttachWorld(
    SECRETS + gateway(`{name: a, port: 1, protocol: HTTPS, ${option("mesh.io", "MUTUAL")}}`),
  ).view("gw");
  assert.equal(without.listeners[0]!.serves, false, "without authorities every client would be refused");
});

/** Gateway `infra/gw` takes ListenerSets of all namespaces, and `vault/set` with a listener is one of them. */
function withSet(ofGateway: string, listener: string): AttachWorld {
  const settings = `, allowedListeners: {namespaces: {from: All}}${ofGateway}`;
  return new AttachWorld(`${SECRETS}${gateway("{name: a, port: 80, protocol: HTTP}", settings)}
---
apiVersion: gateway.networking.k8s.io/v1
kind: ListenerSet
metadata: {name: set, namespace: vault}
spec: {parentRef: {name: gw, namespace: infra}, listeners: [${listener}]}`);
}

Deno.test("a ListenerSet's own options do not spare clients the certificate that the Gateway wants", () => {
  const frontend = ", tls: {frontend: {default: {validation: {caCertificateRefs: " +
    "[{group: '', kind: ConfigMap, name: authorities}]}}}}";
  for (const mode of ["OPTIONAL_MUTUAL", "MUTUAL", "MESH_SIMPLE", "MESH_MUTUAL", "SIMPLE"]) {
    const tls = `tls: {certificateRefs: [{name: far}], options: {gateway.mesh.io/tls-terminate-mode: ${mode}}}`;
    const listener = `{name: b, port: 443, protocol: HTTPS, ${tls}}`;
    const [, of] = withSet(frontend, listener).view("gw").listeners;
    assert.deepEqual([of?.tls?.clients, of?.tls?.authorities.map(({ name }) => name)], ["required", ["authorities"]]);
  }
});

Deno.test("a ListenerSet opens no way to the services of all namespaces", () => {
  const option = "options: {gateway.mesh.io/listener-protocol: auto-passthrough}";
  const listener = `{name: b, port: 15443, protocol: TLS, tls: {mode: Passthrough, ${option}}}`;
  const { listeners } = withSet("", listener).view("gw");
  assert.deepEqual(listeners.map(({ spec, autoPassthrough }) => [spec.name, autoPassthrough]), [
    ["a", false],
    ["b", false],
  ]);
  const [own] = new AttachWorld(SECRETS + gateway(listener)).view("gw").listeners;
  assert.equal(own?.autoPassthrough, true);
});

/** What a Gateway's `spec.tls.backend` may name. */
const CLIENT: Readonly<Record<string, readonly [ref: string, expected: string]>> = {
  good: ["{name: good}", "ResolvedRefs"],
  missing: ["{name: gone}", "not InvalidClientCertificateRef"],
  malformed: ["{name: malformed}", "not InvalidClientCertificateRef"],
  kind: ["{name: good, kind: ConfigMap}", "not InvalidClientCertificateRef"],
  grant: ["{name: far, namespace: vault}", "not RefNotPermitted"],
};

for (const [name, [ref, expected]] of Object.entries(CLIENT)) {
  Deno.test(`certificate towards backends: ${name}`, () => {
    const view = new AttachWorld(
      SECRETS + gateway("{name: a, port: 80, protocol: HTTP}", `, tls: {backend: {clientCertificateRef: ${ref}}}`),
    ).view("gw");
    assert.deepEqual([word(view.resolvedRefs), word(view.accepted)], [expected, "Accepted"]);
    assert.equal(view.clientCertificate?.name, expected === "ResolvedRefs" ? "good" : undefined);
  });
}
