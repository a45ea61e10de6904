/**
 * The discovery server: wires folder, registry, translation and wire together.
 *
 * Permissions: net, read, env as in the permission set `pilot-discovery`.
 *
 * @module
 */
import { UsageError } from "../../lib/cli/command.ts";
import type { Kernel } from "../../lib/kernel/kernel.ts";
import type { SettingsOf } from "../../lib/kernel/settings/catalogue.ts";
import type { DiscoveryOptions } from "./discovery_options.ts";

/**
 * Runs the server until it is told to stop; resolves with the exit code.
 *
 * @throws {UsageError} while this version has no server.
 */
export function runDiscovery(
  _options: DiscoveryOptions,
  _settings: SettingsOf<"pilot-discovery">,
  _kernel: Kernel,
): Promise<number> {
  return Promise.reject(new UsageError("pilot-discovery discovery: the server is not built in this version"));
}
