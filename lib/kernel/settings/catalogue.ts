/**
 * The catalogue of environment variables of all three programs.
 *
 * @module
 */
import { type Program, type ProgramLetter, programLetters, usedBy } from "../program/program.ts";
import { agentSettings } from "./agent.ts";
import { cniSettings } from "./cni.ts";
import { controlPlaneSettings } from "./control_plane.ts";
import type { Setting, SettingValue } from "./define.ts";
import { discoverySettings } from "./discovery.ts";
import { generalSettings } from "./general.ts";
import { ownSettings } from "./own.ts";
import { platformSettings } from "./platform.ts";
import { trafficSettings } from "./traffic.ts";

/** Areas of the catalogue, in the order of the reference page. */
export const settingAreas = {
  "Identity, certificates and trust": generalSettings,
  "Platform, clusters and connections": platformSettings,
  "What proxies receive": trafficSettings,
  "The server's inner workings": controlPlaneSettings,
  "pilot-discovery only": discoverySettings,
  "pilot-agent only": agentSettings,
  "install-cni only": cniSettings,
  "Beyond the shared tables": ownSettings,
} as const;

/** Every variable by name. */
export const catalogue = {
  ...generalSettings,
  ...platformSettings,
  ...trafficSettings,
  ...controlPlaneSettings,
  ...discoverySettings,
  ...agentSettings,
  ...cniSettings,
  ...ownSettings,
};

/** Type of the catalogue, and the source of {@link Settings}. */
export type Catalogue = typeof catalogue;

/** Name of a variable. */
export type SettingName = keyof Catalogue;

/** Values of every variable, read once at start. Take `Pick<Settings, "A" | "B">` with only the needed names. */
export type Settings = { readonly [K in SettingName]: Catalogue[K]["default"] };

/** Values of a program's variables. */
export type SettingsOf<P extends Program> = {
  readonly [
    K in SettingName as Catalogue[K]["users"] extends `${string}${ProgramLetter<P>}${string}` ? K : never
  ]: Catalogue[K]["default"];
};

/** The catalogue as rows, in order. */
export function settingEntries(): [SettingName, Setting][] {
  return Object.entries(catalogue) as [SettingName, Setting][];
}

/** The variables of a program. */
export function settingsUsedBy(program: Program): [SettingName, Setting][] {
  return settingEntries().filter(([, setting]) => usedBy(setting.users, program));
}

/**
 * Default of a setting for one program.
 *
 * @param ambient Whether `PILOT_ENABLE_AMBIENT` is on.
 */
export function defaultOf(setting: Setting, program: Program, ambient = false): SettingValue {
  const own = setting.per?.[programLetters[program]];
  return own ?? (ambient ? setting.ambient : undefined) ?? setting.default;
}
