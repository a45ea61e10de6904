/** Objects admitted and refused by the validating webhook. */
import assert from "node:assert/strict";
import fc from "fast-check";
import type { AdmissionRequest } from "../../lib/webhook/admission.ts";
import { validate } from "../../lib/webhook/validation.ts";

const route = (weight: number) => ({ destination: { host: "cart" }, weight });

const virtualService = (spec: unknown, meta: object = { name: "cart", namespace: "shop" }, rest: object = {}) => ({
  apiVersion: "networking.mesh.io/v1",
  kind: "VirtualService",
  metadata: meta,
  spec,
  ...rest,
});

const GOOD = { hosts: ["cart"], http: [{ route: [route(100)] }] };
const BAD = { hosts: ["cart"], http: [{ route: [route(-1)] }, { timeout: "soon", route: [route(1)] }] };

const request = (object: unknown, changes: Partial<AdmissionRequest> = {}): AdmissionRequest => ({
  uid: "1",
  resource: { group: "networking.mesh.io", version: "v1", resource: "virtualservices" },
  name: "cart",
  namespace: "shop",
  operation: "CREATE",
  object,
  oldObject: null,
  ...changes,
});

const fields = (found: AdmissionRequest) => validate(found).causes.map(({ field }) => field);

Deno.test("an object without mistakes is admitted, in both spellings", () => {
  for (const apiVersion of ["networking.mesh.io/v1", "networking.istio.io/v1beta1"]) {
    assert.deepEqual(validate(request({ ...virtualService(GOOD), apiVersion })).causes, []);
  }
});

Deno.test("all mistakes of an object are causes, each with its field and what was expected", () => {
  const { causes, failure } = validate(request(virtualService(BAD)));
  assert.equal(failure, "invalid_resource");
  assert.deepEqual(causes.map(({ field }) => field).sort(), ["spec.http[0].route[0].weight", "spec.http[1].timeout"]);
  for (const { field, message } of causes) assert.ok(message.includes(field) && message.includes("expected"), message);
});

Deno.test("an object of a foreign kind is refused with the reason", () => {
  const failures = [
    [{ ...virtualService(GOOD), kind: "VirtualServise" }, "unknown_type"],
    [{ apiVersion: "v1", kind: "Pod", metadata: { name: "a" } }, "unknown_type"],
    [null, "yaml_decode_error"],
    ["text", "yaml_decode_error"],
    [virtualService(GOOD, undefined, { spek: {} }), "invalid_resource"],
  ] as const;
  for (const [object, failure] of failures) assert.equal(validate(request(object)).failure, failure);
});

Deno.test("removals, other operations and subresources are admitted whatever the object is", () => {
  for (const operation of ["DELETE", "CONNECT"]) {
    assert.deepEqual(fields(request(virtualService(BAD), { operation })), []);
  }
  assert.deepEqual(fields(request(virtualService(BAD), { operation: "UPDATE", subResource: "status" })), []);
});

Deno.test("an update that leaves a bad spec unchanged passes with a warning, and an update that changes the bad spec is refused", () => {
  const old = virtualService(BAD);
  const labelled = virtualService(BAD, { name: "cart", namespace: "shop", labels: { a: "b" }, finalizers: [] });
  const kept = validate(request(labelled, { operation: "UPDATE", oldObject: old }));
  assert.equal(kept.failure, undefined);
  for (const field of ["spec.http[0].route[0].weight", "spec.http[1].timeout"]) {
    assert.ok(kept.warnings.some((warning) => warning.startsWith(field)), field);
  }
  const annotated = virtualService(BAD, {
    name: "cart",
    annotations: { "internal.mesh.io/webhook-always-reject": "true" },
  });
  assert.equal(validate(request(annotated, { operation: "UPDATE", oldObject: old })).failure, "invalid_resource");
  const other = virtualService({ ...BAD, hosts: ["basket"] });
  assert.equal(validate(request(other, { operation: "UPDATE", oldObject: old })).failure, "invalid_resource");
});

Deno.test("an object whose name the API still has to make is admitted", () => {
  assert.deepEqual(fields(request(virtualService(GOOD, { generateName: "cart-" }), { name: "" })), []);
});

Deno.test("an object without a namespace has the request's namespace", () => {
  assert.deepEqual(fields(request(virtualService(GOOD, { name: "cart" }))), []);
});

Deno.test("the annotation by which the orchestrator's side tries a webhook is refused", () => {
  const annotations = { "internal.istio.io/webhook-always-reject": "true" };
  assert.deepEqual(fields(request(virtualService(GOOD, { name: "cart", annotations }))), ["metadata.annotations"]);
});

Deno.test("whatever comes is answered, never thrown", () => {
  fc.assert(
    fc.property(fc.jsonValue(), fc.jsonValue(), fc.constantFrom("CREATE", "UPDATE"), (object, oldObject, operation) => {
      assert.ok(validate(request(object, { operation, oldObject })).causes.length > 0);
      validate(request(virtualService(object), { operation, oldObject }));
    }),
  );
});
