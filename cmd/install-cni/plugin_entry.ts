/**
 * Entry of the network plugin alone, from which one file is made: see `bundle.ts`.
 *
 * Permissions: those of `lib/cni/plugin/main.ts`.
 *
 * @module
 */
import { pluginMain } from "../../lib/cni/plugin/main.ts";

Deno.exit(await pluginMain());
