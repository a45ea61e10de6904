/**
 * Rights of `manifests/` one by one: work passes with all of them, and is refused with one verb less.
 *
 * Permissions: those of `./api_server.ts`.
 *
 * @module
 */
import assert from "node:assert/strict";
import type { Clock } from "../../../../lib/kernel/time/clock.ts";
import type { ApiServer } from "./api_server.ts";
import { type AccountClient, accountClient, manifests } from "./rights.ts";
import type { RoleRule } from "./users.ts";
import { until } from "../../../patience.ts";

/** Where the programs and their accounts are. */
export const SYSTEM = "mesh-system";

/** One verb for one resource. */
export interface Right {
  readonly verb: string;
  readonly group: string;
  /** With its subresource: `pods/status`. */
  readonly resource: string;
  /** Of one object only. */
  readonly name?: string;
  /** What grants it: a right in the system's namespace, or everywhere. */
  readonly role: "Role" | "ClusterRole";
}

/** An account that lacks one right, or none. */
export interface LackingAccount {
  readonly account: string;
  readonly without: Right | undefined;
}

/** The rights that files of `manifests/` grant to one account. */
export function rightsOf(...files: readonly string[]): readonly Right[] {
  return files.flatMap(manifests).flatMap((object) => {
    if (object.kind !== "Role" && object.kind !== "ClusterRole") return [];
    const role = object.kind;
    return (object["rules"] as readonly RoleRule[]).flatMap((rule) =>
      rightsOfRule(rule).map((one) => ({ ...one, role }))
    );
  });
}

function rightsOfRule({ apiGroups = [], resources = [], resourceNames, verbs }: RoleRule): Omit<Right, "role">[] {
  const names = resourceNames === undefined ? [{}] : resourceNames.map((name) => ({ name }));
  return apiGroups.flatMap((group) =>
    resources.flatMap((resource) =>
      verbs.flatMap((verb) => names.map((named) => ({ verb, group, resource, ...named })))
    )
  );
}

/**
 * Accounts with the rights of manifests: first one with all, then for each right that is chosen one without it. The API
 * knows what an account may do when it comes.
 */
export async function* accountsWithOneRightLess(
  { users, objects }: ApiServer,
  files: readonly string[],
  chosen: (right: Right) => boolean,
): AsyncGenerator<LackingAccount> {
  const rights = rightsOf(...files);
  const lacking = rights.filter(chosen);
  assert.ok(lacking.length > 0, `${files}: no right is chosen`);
  await objects.apply({ apiVersion: "v1", kind: "Namespace", metadata: { name: SYSTEM } });
  for (const without of [undefined, ...lacking]) {
    const account = `less-${crypto.randomUUID()}`;
    await users.account(SYSTEM, account);
    const subject = { kind: "ServiceAccount", name: account, namespace: SYSTEM } as const;
    for (const role of ["ClusterRole", "Role"] as const) {
      const kept = rights.filter((right) => right.role === role && right !== without).map(ruleOf);
      const sign = { verb: "get", group: "test", resource: role.toLowerCase() };
      const where = role === "Role" ? [SYSTEM] : [];
      await users.grant(subject, account, [...kept, ruleOf({ ...sign, role })], ...where);
      await users.granted(SYSTEM, account, sign);
    }
    yield { account, without };
  }
}

function ruleOf({ verb, group, resource, name }: Right): RoleRule {
  const names = name === undefined ? {} : { resourceNames: [name] };
  return { apiGroups: [group], resources: [resource], ...names, verbs: [verb] };
}

/** What work is done with. */
export interface RightsTrial extends AccountClient, LackingAccount {
  /** Resolves when something holds, or when the account was refused a request. */
  until(what: string, holds: () => boolean | Promise<boolean>): Promise<void>;
}

/**
 * Does work as accounts with one right less; fails unless all rights are enough and each that is chosen is needed: without it
 * the first request that is refused is one that it allows.
 *
 * @param work Ends when it is done, or soon after a refusal; then it may fail.
 */
export async function everyRightIsNeeded(
  server: ApiServer,
  files: readonly string[],
  chosen: (right: Right) => boolean,
  work: (trial: RightsTrial) => Promise<unknown>,
  clock?: Clock,
): Promise<void> {
  for await (const { account, without } of accountsWithOneRightLess(server, files, chosen)) {
    using as = await accountClient(server, SYSTEM, account, clock);
    let refusal: string | undefined;
    void as.refused.then((what) => refusal = what);
    const trial: RightsTrial = {
      ...{ client: as.client, refused: as.refused, account, without, [Symbol.dispose]: () => {} },
      until: (what, holds) => until(what, async () => refusal !== undefined || await holds()),
    };
    try {
      await work(trial);
    } catch (error) {
      if (refusal === undefined) throw error;
    }
    if (without === undefined) assert.equal(refusal, undefined, "all rights of the manifest are enough");
    else assert.match(refusal ?? "nothing was refused", requestOf(without), JSON.stringify(without));
  }
}

/** The methods of requests that a verb allows. An object that is applied is made by a patch. */
const METHODS: Readonly<Record<string, string>> = {
  ...{
    get: "GET",
    list: "GET",
    watch: "WATCH",
    create: "(POST|PATCH)",
    update: "PUT",
    patch: "PATCH",
    delete: "DELETE",
  },
  // Verbs of signers are asked for together with those of what is signed or handed out.
  ...{ attest: "(POST|PATCH)", approve: "PATCH" },
};

/** The requests that a right allows, as {@linkcode AccountClient} names them. */
function requestOf({ verb, resource, name }: Right): RegExp {
  const [plural, subresource] = resource.split("/");
  const object = name ?? "[^/]+";
  const path = ["list", "watch"].includes(verb) ? "" : verb === "create" ? `(/${object})?` : `/${object}`;
  const place = resource === "signers"
    ? ".*"
    : `.*/${plural}${path}${subresource === undefined ? "" : `/${subresource}`}`;
  return new RegExp(`^${METHODS[verb]} ${place}$`);
}
