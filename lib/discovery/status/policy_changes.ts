/**
 * Which policies of backends and XBackends a change concerns. The verdicts on a policy depend on the policy, on its
 * authorities and targets, on other policies of the same targets, and on the Gateways that route to the targets. The verdicts
 * on an XBackend depend on its authorities and on the Gateways that route to the XBackend.
 *
 * @module
 */
import type { FactStore } from "../../config/facts/store.ts";
import type { Fact } from "../../config/facts/types.ts";
import { changedObjects, type ChangeSet, type ConfigStore } from "../../config/store.ts";
import type { ConfigObject, Kind } from "../../config/types.ts";
import type { GatewayApiVerdicts } from "../../gateway_api/groups/verdicts.ts";

/** Kinds of policies of backends, and of backends. */
const POLICY_KINDS = ["BackendTLSPolicy", "XBackendTrafficPolicy", "XBackend"] as const;

/** What the verdicts of policies depend on. */
export interface PolicyWorld {
  readonly store: Pick<ConfigStore, "list" | "subscribe">;
  readonly facts: Pick<FactStore, "subscribe">;
  readonly verdicts: Pick<GatewayApiVerdicts, "onChange">;
}

/**
 * Calls a listener with the keys of the policies that a change may concern.
 *
 * @param look Must not throw. The policies themselves are among the keys.
 * @returns ends the calls
 */
export function onPolicyChange(
  { store, facts, verdicts }: PolicyWorld,
  look: (keys: readonly string[]) => void,
): () => void {
  const say = (keys: readonly string[]) => {
    if (keys.length > 0) look(keys);
  };
  const ends = [
    store.subscribe((changes) => say([...policiesBeside(changes, store)])),
    facts.subscribe((changes) => say([...policiesNaming(changes, store)])),
    // A verdict about a Gateway or route changes the Gateways that route to a target.
    verdicts.onChange(() => say(policiesIn(store).map(({ key }) => key))),
  ];
  return () => {
    for (const end of ends) end();
  };
}

/** The policies of a namespace. Default: of all namespaces. */
function policiesIn(store: PolicyWorld["store"], namespace?: string) {
  return POLICY_KINDS.flatMap((kind): readonly ConfigObject<(typeof POLICY_KINDS)[number]>[] =>
    store.list(kind, namespace)
  );
}

/** The policies of namespaces with a changed policy or ServiceEntry. */
function policiesBeside(changes: ChangeSet<ConfigObject>, store: PolicyWorld["store"]): Set<string> {
  const kinds: readonly Kind[] = [...POLICY_KINDS, "ServiceEntry"];
  const changed = changedObjects(changes).filter(({ kind }) => kinds.includes(kind));
  const namespaces = new Set(changed.map(({ meta }) => meta.namespace));
  return new Set([...namespaces].flatMap((one) => policiesIn(store, one).map(({ key }) => key)));
}

/** The policies that name a changed Service or ConfigMap of their namespace. */
function policiesNaming(changes: ChangeSet<Fact>, store: PolicyWorld["store"]): Set<string> {
  const found = new Set<string>();
  for (const { kind, meta } of changedObjects(changes)) {
    if (kind !== "Service" && kind !== "ConfigMap") continue;
    for (const { key, spec } of policiesIn(store, meta.namespace)) {
      const refs = kind === "Service" ? targetsIn(spec) : authoritiesIn(spec);
      if (refs.some((ref) => ref.kind === kind && ref.name === meta.name)) found.add(key);
    }
  }
  return found;
}

type PolicySpec = ReturnType<typeof policiesIn>[number]["spec"];

function targetsIn(spec: PolicySpec) {
  return "targetRefs" in spec ? spec.targetRefs : [];
}

function authoritiesIn(spec: PolicySpec) {
  const validation = "validation" in spec ? spec.validation : "tls" in spec ? spec.tls?.validation : undefined;
  return validation?.caCertificateRefs ?? [];
}
