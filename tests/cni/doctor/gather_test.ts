/** The doctor where access is refused, or no answer comes. */
import assert from "node:assert/strict";
import { examine } from "../../../lib/cni/doctor/examine.ts";
import { type DoctorWorld, gather } from "../../../lib/cni/doctor/gather.ts";
import { orchConfigText } from "../../../lib/cni/install/orch_config.ts";
import { systemFileCalls } from "../../../lib/cni/node/file_calls.ts";
import { rememberCall } from "../../../lib/cni/plugin/calls.ts";
import type { Redirector } from "../../../lib/cni/plugin/redirector.ts";
import { PodSourceError } from "../../../lib/cni/pods/source.ts";
import { Place, PRIMARY } from "../support/place.ts";

const redirector: Redirector = {
  look: () => Promise.resolve({ addresses: "", isNode: false }),
  apply: () => Promise.resolve("done"),
  check: () => Promise.resolve([]),
  obstacles: () => Promise.resolve([]),
  end: () => Promise.resolve(),
};

function world(place: Place, more: Partial<DoctorWorld> = {}): DoctorWorld {
  return {
    folders: place.folders,
    calls: systemFileCalls,
    redirector: () => redirector,
    pods: () => assert.fail("no pod is asked for"),
    inScratch: (work) => work("/run/netns/scratch"),
    probe: () => Promise.resolve([]),
    ...more,
  };
}

Deno.test("a doctor without rights names the parts that it cannot read, instead of a stack", async () => {
  using place = new Place();
  const refuse = () => {
    throw new Deno.errors.PermissionDenied("Permission denied (os error 13)");
  };
  const facts = await gather(world(place, { calls: { ...systemFileCalls, read: refuse, stat: refuse, list: refuse } }));
  assert.equal(facts.unseen.length, 4);
  const rights = examine(facts).filter((finding) => finding.about === "rights");
  assert.match(rights[0]?.text ?? "", /^Permission denied \(os error 13\): run it as root, where the node's folders/);
});

Deno.test("an orchestrator that does not answer is asked once, not for each pod", async () => {
  using place = new Place();
  place.config("10-a.conflist", PRIMARY);
  const access = { server: "http://192.0.2.1", ca: undefined, token: "x" };
  Deno.writeTextFileSync(`${place.folders.run}/mesh-cni-orchconfig`, orchConfigText(access));
  for (const pod of ["shop/a", "shop/b", "shop/c"]) {
    rememberCall(place.folders.run, {
      at: "now",
      command: "ADD",
      pod,
      container: pod,
      netns: "/run/netns/p",
      outcome: "redirected",
      code: 0,
      took: 80,
    });
  }
  let asked = 0;
  const pods = {
    pod: () => {
      asked++;
      return Promise.reject(new PodSourceError("no answer within 5000 ms", undefined));
    },
    namespaceLabels: () => assert.fail(),
  };
  const facts = await gather(world(place, { pods: () => pods }));
  assert.equal(asked, 1);
  assert.deepEqual(facts.pods, [{
    pod: "shop/a",
    netns: "/run/netns/p",
    differences: ["its rules, and those of others, could not be compared: no answer within 5000 ms"],
  }]);
});

Deno.test("rules that are in place but turn no connection are a problem: what counts is that one goes through", async () => {
  using place = new Place();
  const asked: string[] = [];
  const probe = (netns: string) => {
    asked.push(netns);
    return Promise.resolve(["IPv4: connections to 127.0.0.6 port 15002 do not reach port 15006: refused"]);
  };
  const { trial } = await gather(world(place, { probe }));
  assert.deepEqual([asked, trial], [
    ["/run/netns/scratch"],
    "IPv4: connections to 127.0.0.6 port 15002 do not reach port 15006: refused",
  ]);
  assert.equal((await gather(world(place))).trial, "passed");
});
