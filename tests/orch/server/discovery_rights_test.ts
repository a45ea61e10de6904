/**
 * `manifests/pilot-discovery.yaml` grants exactly the rights of the server's reads: all objects come, and not with one
 * verb less.
 */
import { FactStore } from "../../../lib/config/facts/store.ts";
import { ConfigStore } from "../../../lib/config/store.ts";
import { OrchObjects } from "../../../lib/discovery/sources/orchestrator.ts";
import { startKernel } from "../../../lib/kernel/kernel.ts";
import { silentLog } from "../../../lib/kernel/log/log.ts";
import { openDefinition } from "../support/open_definition.ts";
import { everyRightIsNeeded, type Right, type RightsTrial } from "../support/server/one_right_less.ts";
import { GATEWAY_API_DEFINITIONS, KIND_DEFINITIONS } from "../../../lib/orch/resources/definitions.ts";
import { manifests } from "../support/server/rights.ts";
import { apiServerTests } from "../support/server/tests.ts";
import { sharingDefinitions } from "../support/sharing.ts";

const test = apiServerTests();

/** Every kind of the Gateway API is read. */
const GATEWAY_API = { gatewayApi: "stable and alpha", inferencePools: true } as const;
const SHARING_GROUPS = ["multicluster.x-k8s.io", "multicluster.orch.example"] as const;

/** Reads everything the server reads, or until `refused`; then runs `run`. */
async function reading(
  { client, refused }: Pick<RightsTrial, "client" | "refused">,
  group: string,
  run: () => Promise<unknown>,
): Promise<void> {
  const kernel = startKernel("pilot-discovery", undefined, { log: silentLog() });
  const digestKey = crypto.getRandomValues(new Uint8Array(32));
  const store = new ConfigStore();
  const target = {
    objects: (name: string, rank: number) => store.addSource(name, rank),
    facts: new FactStore().addSource("Orch", 0),
    ...{ digestKey, onFindings: () => {} },
  };
  const sharing = { groups: [group], version: "v1alpha1", imports: true };
  const scope = { namespace: "", kinds: true, services: true, sharing, ...GATEWAY_API } as const;
  const objects = new OrchObjects(client, "Orch", scope, target, kernel);
  try {
    await Promise.race([refused, objects.start()]);
    await run();
  } finally {
    await objects.stop();
    await kernel.stopper.stop();
  }
}

test("with the rights of the manifests the server reads everything; without that to list or watch one resource of our kinds or of facts, its path is refused", async ({ server }) => {
  const theirs = [...KIND_DEFINITIONS.filter(({ own }) => !own), ...GATEWAY_API_DEFINITIONS].map(openDefinition);
  const sharing = SHARING_GROUPS.flatMap((group) => sharingDefinitions(group));
  for (const definition of [...manifests("definitions"), ...theirs, ...sharing]) {
    await server.objects.define(definition);
  }
  // tests/orch/leader/injection_webhook_test.ts covers the right to read webhooks, and
  // tests/orch/server/gateway_deployments_test.ts the rights to deployed objects.
  const elsewhere = ["admissionregistration.k8s.io", "apps", "autoscaling", "policy"];
  const reads = ({ group, verb }: Right) => !elsewhere.includes(group) && ["list", "watch"].includes(verb);
  await everyRightIsNeeded(server, ["pilot-discovery"], reads, async (as) => {
    // The server reads exports and imports in the first group with definitions.
    const group = SHARING_GROUPS.find((group) => group === as.without?.group) ?? SHARING_GROUPS[0];
    await reading(as, group, async () => {
      if (as.without?.verb === "watch") await as.refused;
    });
  });
});
