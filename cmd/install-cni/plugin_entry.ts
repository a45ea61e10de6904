/**
 * Entry of the network plugin alone, for the bundle (see `bundle.ts`).
 *
 * Permissions: the same as `lib/cni/plugin/main.ts`.
 *
 * @module
 */
import { pluginMain } from "../../lib/cni/plugin/main.ts";

/** Longest time between the answer's end and the process's, ms. */
const LINGER_MS = 20;

// The runtime keeps compiled code for the next call only if the module runs to the end. So the module does not call
// exit.
Deno.exitCode = await pluginMain();
// Nothing is left to wait for. Should anything be, the container runtime shall not wait with us.
Deno.unrefTimer(setTimeout(() => Deno.exit(), LINGER_MS));
