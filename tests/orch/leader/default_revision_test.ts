/** The default revision, as a real API server tells of it. */
import assert from "node:assert/strict";
import { silentLog } from "../../../lib/kernel/log/log.ts";
import { DefaultRevision, goesBeforeKey } from "../../../lib/orch/leader/default_revision.ts";
import { apiServerTests } from "../support/server/tests.ts";
import { until } from "../../patience.ts";

const test = apiServerTests();
const CONFIGURATION = { apiVersion: "admissionregistration.k8s.io/v1", kind: "MutatingWebhookConfiguration" };

/** The configuration of a tag, as the API keeps it; without webhooks the API calls nobody. */
const tag = (name: string, labels: Readonly<Record<string, string>>) => ({
  ...CONFIGURATION,
  metadata: { name: `mesh-revision-tag-${name}`, labels },
});

test("the default revision is named by the webhook of the tag default, in either spelling; without the webhook it is the revision default", async ({ server }) => {
  const { client, objects } = server;
  const revision = new DefaultRevision(client, silentLog().scope("orch"));
  assert.equal(revision.current, "");
  revision.start();
  try {
    await objects.create(tag("canary", { "mesh.io/rev": "never" }));
    await objects.create(tag("default", { "istio.io/rev": "blue" }));
    await until("the revision is known", () => revision.current === "blue");
    // Ours comes first where both are there.
    await objects.patch(tag("default", {}), { metadata: { labels: { "mesh.io/rev": "green" } } });
    await until("another revision is the default", () => revision.current === "green");
    assert.equal(goesBeforeKey("green", revision.current, "blue"), true);
    assert.equal(goesBeforeKey("blue", revision.current, "green"), false);
    await objects.delete(tag("default", {}));
    await until("no webhook names a revision", () => revision.current === "default");
    assert.equal(goesBeforeKey("default", revision.current, "blue"), true);
    assert.equal(goesBeforeKey("green", revision.current, "default"), false);
    assert.equal(goesBeforeKey("green", revision.current, "blue"), false);
  } finally {
    await revision.stop();
    await objects.delete(tag("canary", {}));
  }
});
