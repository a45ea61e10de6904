/** Installs or uninstalls in a place and kills itself at a change: `killed_install.ts <install|uninstall> <dir> <at>`. */
import { install, uninstall } from "../../../lib/cni/install/installer.ts";
import { systemFileCalls } from "../../../lib/cni/node/file_calls.ts";
import { whileLocked } from "../../../lib/cni/node/lock.ts";
import { cutOff } from "./faults.ts";
import { Place } from "./place.ts";

const [what = "", dir = "", at = "-1", owned = ""] = Deno.args;
const place = new Place(dir);
const die = (): never => {
  Deno.kill(Deno.pid, "SIGKILL");
  for (;;);
};
const calls = cutOff(systemFileCalls, Number(at), die);
whileLocked(`${place.folders.run}/install.lock`, () => {
  const placement = owned === "owned" ? "owned" : "chained";
  if (what === "install") install(place.folders, place.desired({ placement }), calls, Date.now);
  else uninstall(place.folders, calls);
});
