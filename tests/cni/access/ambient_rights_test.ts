/**
 * The rights of install-cni with ambient mode: the node agent's watches and writes pass, and none with one verb less.
 */
import assert from "node:assert/strict";
import type { Pod } from "../../../lib/cni/pods/pod.ts";
import { RestPods } from "../../../lib/cni/pods/rest.ts";
import { PodSourceError } from "../../../lib/cni/pods/source.ts";
import { PLUGIN_RIGHTS } from "../../../lib/install/objects/plugin.ts";
import { resolveNodes } from "../../../lib/install/template/resolve.ts";
import { withoutComments } from "../../../lib/install/template/resolved.ts";
import { defaultValues } from "../../../lib/install/values/values.ts";
import type { ApiServer } from "../../orch/support/server/api_server.ts";
import type { ObjectDraft } from "../../orch/support/server/objects.ts";
import { accountsWithOneRightLess, type Right, SYSTEM } from "../../orch/support/server/one_right_less.ts";
import { apiServerTests } from "../../orch/support/server/tests.ts";

const test = apiServerTests();

const RIGHTS = resolveNodes(PLUGIN_RIGHTS, defaultValues({ "ambient.enabled": true }))
  .map(withoutComments) as unknown as readonly ObjectDraft[];

/** The rights that the agent uses; the installer's are tested beside. */
const ofAgent = ({ resource, verb }: Right) =>
  (["namespaces", "pods"].includes(resource) && ["list", "watch"].includes(verb)) || resource === "pods/status";

/** What the API refuses to the node agent of an account. Undefined: nothing. */
async function refusedTo(server: ApiServer, account: string): Promise<string | undefined> {
  const pod = {
    ...{ apiVersion: "v1", kind: "Pod", metadata: { namespace: SYSTEM, name: account } },
    spec: { nodeName: account, containers: [{ name: "a", image: "a" }] },
  };
  const namespace = { apiVersion: "v1", kind: "Namespace", metadata: { name: account } };
  await server.objects.create(pod);
  await server.objects.create(namespace);
  const token = await server.users.token(SYSTEM, account);
  const pods = new RestPods(() => ({ server: server.access.server, ca: server.access.ca, token }));
  const view = pods.node(account);
  const refusal = Promise.withResolvers<string>();
  const heard = { pod: Promise.withResolvers<void>(), namespace: Promise.withResolvers<void>() };
  const work = async () => {
    await view.start({
      pod: () => heard.pod.resolve(),
      namespace: (name) => void (name === account && heard.namespace.resolve()),
      troubled: (why) => refusal.resolve(why),
    });
    const known = view.pod(SYSTEM, account);
    assert.ok(known, "the pod of the node is in the list");
    assert.ok(view.namespaceLabels(account), "the namespace is in the list");
    await annotated(pods, known);
    await server.objects.patch(namespace, { metadata: { labels: { "mesh.io/dataplane-mode": "ambient" } } });
    await Promise.all([heard.pod.promise, heard.namespace.promise]);
    return undefined;
  };
  try {
    return await Promise.race([
      refusal.promise,
      work().catch((error) => {
        if (error instanceof PodSourceError && error.status === 403) return error.message;
        throw error;
      }),
    ]);
  } finally {
    await view.stop();
  }
}

async function annotated(pods: RestPods, pod: Pod): Promise<void> {
  await pods.annotate(pod, { "ambient.mesh.io/redirection": "enabled" });
}

test("with the rights of ambient mode the node agent sees its node and writes its annotation, and each of these rights is needed", async ({ server }) => {
  const tried: string[] = [];
  for await (const { account, without } of accountsWithOneRightLess(server, [RIGHTS], ofAgent)) {
    const refused = await refusedTo(server, account);
    if (without === undefined) assert.equal(refused, undefined);
    else assert.match(refused ?? "nothing was refused", /forbidden/, JSON.stringify(without));
    tried.push(`${without?.verb} ${without?.resource}`);
  }
  assert.deepEqual(tried.slice(1).sort(), [
    "list namespaces",
    "list pods",
    "patch pods/status",
    "watch namespaces",
    "watch pods",
  ]);
});
