/**
 * Names of the files in the run folder that outlive a process. All files are ours alone, and are removed with the
 * plugin.
 *
 * @module
 */

/** How the plugin reaches the orchestrator. */
export const ORCH_CONFIG_FILE = "mesh-cni-orchconfig";

/** Calls of the plugin. */
export const CALLS_FILE = "calls.jsonl";

/** Older calls. */
export const OLDER_CALLS_FILE = `${CALLS_FILE}.1`;

/** File with facts about the node from former calls. */
export const FACTS_FILE = "known-facts.json";

/** The lock of installers. */
export const LOCK_FILE = "install.lock";
