/**
 * The encoded policies of node tunnels, one set for all tunnels.
 *
 * @module
 */
import type { AnyFact } from "../config/facts/types.ts";
import type { AnyConfigObject } from "../config/types.ts";
import type { Labels } from "../registry/labels.ts";
import type { TunnelAuthorization, TunnelMesh } from "../mesh/tunnel/authorization.ts";
import type { TunnelPolicyChange } from "../mesh/tunnel/change.ts";
import { portsPolicyName, STRICT_NAME } from "../mesh/tunnel/peer_tls.ts";
import { isTunnelPolicyObject, TunnelPolicies } from "../mesh/tunnel/policies.ts";
import { encode, TYPE_URL_PREFIX } from "../pb/codec.ts";
import { type EncodedResource, encodeResource } from "../resource/encoded.ts";
import type { ResourceSet, ResourceTable } from "../resource/set.ts";
import { admittedWaypoint, WaypointAdmissions } from "./waypoint_admission.ts";

const AUTHORIZATION = "istio.security.Authorization";

/** Type URL of policies. */
export const AUTHORIZATION_TYPE_URL = TYPE_URL_PREFIX + AUTHORIZATION;

/** The policies and their set. */
export class PolicySet {
  #policies: TunnelPolicies;
  #trustDomain: string;
  /** Undefined: no policy admits waypoints. */
  readonly #admissions: WaypointAdmissions | undefined;
  #set: ResourceSet;
  /** Names of policies that may have changed. */
  readonly #stale = new Set<string>();
  readonly #relisted: (namespace: string | undefined) => void;

  /**
   * @param table the table of the sets of the server
   * @param relisted called with a namespace whose workloads may list other policies; undefined: all namespaces
   * @param admitsWaypoints Whether policies admit waypoints. Default false.
   */
  constructor(
    mesh: TunnelMesh,
    table: ResourceTable,
    relisted: (namespace: string | undefined) => void,
    admitsWaypoints = false,
  ) {
    this.#policies = new TunnelPolicies(mesh);
    this.#trustDomain = mesh.trustDomain;
    this.#admissions = admitsWaypoints ? new WaypointAdmissions() : undefined;
    this.#set = table.empty;
    this.#relisted = relisted;
  }

  /** Whether policies may have changed since the last {@linkcode PolicySet.settle}. */
  get isStale(): boolean {
    return this.#stale.size > 0;
  }

  /** The policies; the same object while their content stays. */
  get set(): ResourceSet {
    return this.#set;
  }

  /** Names of the policies to be listed at a workload. */
  listed(namespace: string, labels: Labels): readonly string[] {
    return this.#policies.listed({ namespace, labels });
  }

  /** Takes an object that came or changed. Objects of other kinds are passed over. */
  put(object: AnyConfigObject | AnyFact): void {
    if (isTunnelPolicyObject(object)) this.#changed(this.#policies.put(object));
    if (object.kind !== "Pod" && object.kind !== "ApiGateway") return;
    for (const name of this.#admissions?.put(object) ?? []) this.#stale.add(name);
  }

  /** Takes the key of an object that is gone. */
  remove(key: string): void {
    if (isTunnelPolicyObject({ kind: key.slice(0, key.indexOf("/")) })) this.#changed(this.#policies.remove(key));
    for (const name of this.#admissions?.remove(key) ?? []) this.#stale.add(name);
  }

  /** Makes all policies again, because the mesh configuration is another one. */
  useMesh(mesh: TunnelMesh): void {
    const before = this.#policies;
    this.#policies = new TunnelPolicies(mesh, before.objects());
    this.#trustDomain = mesh.trustDomain;
    const admissions = this.#admissions?.names() ?? [];
    for (const name of [...before.names(), ...this.#policies.names(), ...admissions]) this.#stale.add(name);
  }

  /** Brings the set up to date. @returns whether the set is another one */
  settle(): boolean {
    const before = this.#set;
    const gone: string[] = [];
    const made: EncodedResource[] = [];
    for (const name of this.#stale) {
      const policy = this.#policies.authorization(name) ?? this.#admissions?.policy(name, this.#trustDomain);
      if (policy === undefined) gone.push(name);
      else made.push(encodePolicy(name, policy));
    }
    this.#stale.clear();
    this.#set = this.#set.with(made, gone);
    return this.#set !== before;
  }

  #changed({ names, namespaces }: TunnelPolicyChange): void {
    for (const name of names) this.#stale.add(name);
    if (namespaces.has("*")) return this.#relisted(undefined);
    for (const namespace of namespaces) this.#relisted(namespace);
  }
}

function encodePolicy(name: string, policy: TunnelAuthorization): EncodedResource {
  const { scope, action, ...rest } = policy;
  // The encoder would write the default of an enumeration.
  const plain = { ...rest, ...scope ? { scope } : {}, ...action ? { action } : {} };
  return encodeResource(AUTHORIZATION_TYPE_URL, name, encode(AUTHORIZATION, plain), { causes: causesOf(name) });
}

/** Keys of the objects of configuration behind a policy. The policy of all strict workloads has no single object. */
function causesOf(policy: string): readonly string[] {
  const [namespace = "", name = ""] = policy.split("/");
  if (name === STRICT_NAME) return [];
  const waypoint = admittedWaypoint(policy);
  if (waypoint !== undefined) return [`ApiGateway/${waypoint}`];
  const prefix = portsPolicyName("");
  if (!name.startsWith(prefix)) return [`AuthorizationPolicy/${policy}`];
  return [`PeerAuthentication/${namespace}/${name.slice(prefix.length)}`];
}
