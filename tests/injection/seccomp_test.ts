/** Seccomp profiles of injected containers. */
import assert from "node:assert/strict";
import { injected, type InjectionCase } from "./support.ts";

const RUNTIME = { type: "RuntimeDefault" };
const LOCAL = { type: "Localhost", localhostProfile: "shop.json" };
const UNCONFINED = { type: "Unconfined" };

type Profile = Readonly<Record<string, string>>;

interface Profiles {
  readonly pod?: Profile;
  readonly app?: Profile;
  readonly init?: Profile;
  /** Of the author's own container of the proxy. */
  readonly proxy?: Profile;
}

const confined = (seccompProfile: Profile | undefined) =>
  seccompProfile === undefined ? {} : { securityContext: { seccompProfile } };

const podWith = ({ pod, app, init, proxy }: Profiles) => ({
  metadata: { name: "p" },
  spec: {
    ...confined(pod),
    initContainers: [{ name: "migrate", image: "m", ...confined(init) }],
    containers: [
      { name: "app", image: "a", ...confined(app) },
      ...(proxy === undefined ? [] : [{ name: "mesh-proxy", ...confined(proxy) }]),
    ],
  },
});

/** The profiles of the injected containers, by name. */
function profilesOf(given: InjectionCase, pod: unknown): Record<string, unknown> {
  const { spec: { containers, initContainers = [] } } = injected(given, pod);
  const injectedOnes = [...containers, ...initContainers].filter(({ name }) => name.startsWith("mesh-"));
  return Object.fromEntries(injectedOnes.map((one) => [one.name, one.securityContext?.["seccompProfile"]]));
}

const both = (profile: Profile | undefined) => ({ "mesh-proxy": profile, "mesh-init": profile });

for (
  const { name, profiles, expected } of [
    { name: "no profile", profiles: {}, expected: both(undefined) },
    {
      name: "the runtime's profile for each container",
      profiles: { app: RUNTIME, init: RUNTIME },
      expected: both(RUNTIME),
    },
    { name: "a local profile for a container", profiles: { app: LOCAL, init: RUNTIME }, expected: both(RUNTIME) },
    { name: "a container without a profile", profiles: { app: RUNTIME }, expected: both(undefined) },
    { name: "an unconfined container", profiles: { app: RUNTIME, init: UNCONFINED }, expected: both(undefined) },
    {
      name: "a local profile for the pod",
      profiles: { pod: LOCAL, app: RUNTIME, init: RUNTIME },
      expected: both(undefined),
    },
    {
      name: "an unconfined pod",
      profiles: { pod: UNCONFINED, app: RUNTIME, init: RUNTIME },
      expected: both(undefined),
    },
    {
      name: "a local profile for the proxy",
      profiles: { app: RUNTIME, init: RUNTIME, proxy: LOCAL },
      expected: { "mesh-proxy": LOCAL, "mesh-init": RUNTIME },
    },
  ] satisfies readonly { name: string; profiles: Profiles; expected: Record<string, Profile | undefined> }[]
) {
  Deno.test(`profiles of injected containers, for a pod with ${name}`, () => {
    const pod = podWith(profiles);
    assert.deepEqual(profilesOf({}, pod), expected);
    assert.deepEqual(profilesOf({}, injected({}, pod)), expected, "after a second injection");
  });
}

Deno.test("the container that checks the plugin's redirection and a native sidecar have the profile, too", () => {
  const given = { values: { pilot: { cni: { enabled: true } } }, settings: { nativeSidecars: true } };
  const pod = podWith({ app: RUNTIME, init: RUNTIME });
  assert.deepEqual(profilesOf(given, pod), { "mesh-validation": RUNTIME, "mesh-proxy": RUNTIME });
});

Deno.test("the values' profile is the profile of all injected containers, except of a proxy with its own", () => {
  const given = { values: { global: { proxy: { seccompProfile: LOCAL } } } };
  assert.deepEqual(profilesOf(given, podWith({ pod: RUNTIME })), both(LOCAL));
  assert.deepEqual(profilesOf(given, podWith({ proxy: RUNTIME })), { "mesh-proxy": RUNTIME, "mesh-init": LOCAL });
  const empty = { values: { global: { proxy: { seccompProfile: {} } } } };
  assert.deepEqual(profilesOf(empty, podWith({})), both(undefined));
});
